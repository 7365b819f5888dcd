#include "cli/inspect_package.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "berth/inspection.h"
#include "berth/package.h"
#include "cli/library_report.h"

namespace berth::cli {
namespace {

using Json = nlohmann::ordered_json;

Json files_json(const std::vector<PackagedFile>& files) {
  Json json = Json::array();
  for (const PackagedFile& file : files)
    json.push_back({{"name", file.name}, {"size_bytes", file.size_bytes}});
  return json;
}

Json model_json(const PackagedModel& model, const Result<Inspection>& library) {
  Json json = {{"name", model.name},
               {"device", model.device},
               {"machine", model.machine},
               {"platform", model.platform},
               {"instruction_set", model.instruction_set},
               {"metadata", model.metadata},
               {"constants", to_string(model.constants)},
               {"constant_files", files_json(model.constant_files)},
               {"files", files_json(model.files)},
               {"library_file", model.library.name}};
  add_library(library, json);
  return json;
}

void print_row(std::string_view title, std::string_view text) {
  fmt::print("    {:<16}{}\n", title, text.empty() ? "not recorded" : text);
}

void print_model(const PackagedModel& model,
                 const Result<Inspection>& library) {
  fmt::print("  model {}\n", model.name);
  print_row("device", model.device);
  print_row("machine", model.machine);
  print_row("platform", model.platform);
  print_row("compiled for", model.instruction_set);
  print_row("constants", to_string(model.constants));
  std::vector<std::string> metadata;
  for (const auto& [key, value] : model.metadata)
    metadata.push_back(key + "=" + value);
  print_list("metadata", metadata);
  for (const PackagedFile& file : model.files)
    fmt::print("    {:<16}{}  {} bytes\n",
               file.name == model.library.name ? "library file" : "file",
               file.name, file.size_bytes);
  print_library(library);
}

Result<Inspection> inspect_model(const Package& package,
                                 const PackagedModel& model) {
  BERTH_TRY(const auto bytes, package.read(model.library.name));
  std::vector<std::byte> operators;
  if (model.operators) {
    BERTH_TRY(operators, package.read(model.operators->name));
  }
  return noted(Inspection::of(bytes, model.instruction_set, operators),
               "reading '" + model.library.name + "'");
}

}  // namespace

Status inspect_package(const InspectOptions& options) {
  BERTH_TRY(const Package package, Package::open(options.path));
  if (!options.model_name.empty())
    BERTH_CHECK(package.find(options.model_name));
  if (!options.json)
    fmt::print("{}\n  {} models, {} files\n", options.path,
               package.models().size(), package.files().size());
  Json models = Json::array();
  for (const PackagedModel& model : package.models()) {
    if (!options.model_name.empty() && model.name != options.model_name)
      continue;
    const auto library = inspect_model(package, model);
    if (options.json) {
      models.push_back(model_json(model, library));
    } else {
      print_model(model, library);
    }
  }
  if (options.json) {
    const Json json = {{"file", options.path},
                       {"models", std::move(models)},
                       {"files", files_json(package.files())}};
    fmt::print("{}\n", json.dump(2, ' ', true, Json::error_handler_t::replace));
  }
  return ok();
}

}  // namespace berth::cli
