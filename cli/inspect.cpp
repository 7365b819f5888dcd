#include "cli/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "berth/inspection.h"
#include "cli/files.h"
#include "cli/inspect_package.h"
#include "cli/library_report.h"
#include "cli/named_data.h"
#include "executorch/payload.h"
#include "executorch/program.h"

namespace berth::cli {
namespace {

using Json = nlohmann::ordered_json;
using berth::executorch::Program;
using berth::executorch::quoted_key;
using Bytes = std::span<const std::byte>;

Status inspect_library(const InspectOptions& options) {
  BERTH_TRY(const MappedFile file, MappedFile::open(options.path));
  BERTH_TRY(const Inspection library, noted(Inspection::of(file.bytes()),
                                            "reading '" + options.path + "'"));
  if (options.json) {
    fmt::print("{}\n", to_json(library).dump(2));
  } else {
    fmt::print("{}\n", options.path);
    print_library(library);
  }
  return ok();
}

std::string size_text(std::optional<Bytes> bytes) {
  return bytes ? std::to_string(bytes->size()) + " bytes" : "not here";
}

void print_program(const InspectOptions& options, const Program& program,
                   const NamedData& data) {
  fmt::print("{}\n", options.path);
  for (const auto& method : program.methods()) {
    fmt::print("  method {}: {} delegates\n", method.name,
               method.delegates.size());
    print_list("operators", method.operators);
    for (std::size_t i = 0; i < method.delegates.size(); ++i) {
      const auto& delegate = method.delegates[i];
      fmt::print("    delegate {}    {}\n", i, delegate.backend);
      if (delegate.library_key.empty()) continue;
      fmt::print("      library     {}  {}\n", quoted_key(delegate.library_key),
                 size_text(data.find(delegate.library_key)));
      fmt::print("      weights     {}  {}\n", quoted_key(delegate.weights_key),
                 size_text(data.find(delegate.weights_key)));
      fmt::print("      compiled for {}\n", delegate.instruction_set.empty()
                                                ? "an unrecorded CPU"
                                                : delegate.instruction_set);
    }
  }
}

Json program_json(const Program& program, const NamedData& data) {
  const auto size = [&](const std::string& key) -> Json {
    const auto found = data.find(key);
    return found ? Json(found->size()) : Json(nullptr);
  };
  // Keys may be any bytes; JSON is UTF-8.
  Json methods = Json::array();
  for (const auto& method : program.methods()) {
    Json delegates = Json::array();
    for (const auto& delegate : method.delegates) {
      Json entry = {{"backend", delegate.backend}};
      if (!delegate.library_key.empty()) {
        entry["library_key"] = delegate.library_key;
        entry["library_bytes"] = size(delegate.library_key);
        entry["weights_key"] = delegate.weights_key;
        entry["weights_bytes"] = size(delegate.weights_key);
        entry["instruction_set"] = delegate.instruction_set;
      }
      delegates.push_back(std::move(entry));
    }
    methods.push_back({{"name", method.name},
                       {"operators", method.operators},
                       {"delegates", std::move(delegates)}});
  }
  return methods;
}

Status inspect_program(const InspectOptions& options) {
  BERTH_TRY(const MappedFile file, MappedFile::open(options.path));
  BERTH_TRY(const Program program, noted(Program::parse(file.bytes()),
                                         "reading '" + options.path + "'"));
  BERTH_TRY(const NamedData data,
            NamedData::gather(program, options.data_paths));
  if (!options.json) print_program(options, program, data);

  Json libraries = Json::array();
  for (const SharedLibrary& shared : libraries_of(program)) {
    const auto image = data.find(shared.key);
    if (!options.json)
      fmt::print("  library {}  used by {}\n", quoted_key(shared.key),
                 fmt::join(shared.users, ", "));
    Json entry = {{"key", shared.key}, {"users", shared.users}};
    if (image) {
      const auto library = Inspection::of(*image);
      add_library(library, entry);
      if (!options.json) print_library(library);
    }
    libraries.push_back(std::move(entry));
  }
  if (options.json) {
    const Json json = {{"file", options.path},
                       {"methods", program_json(program, data)},
                       {"libraries", std::move(libraries)}};
    fmt::print("{}\n", json.dump(2, ' ', true, Json::error_handler_t::replace));
  }
  return ok();
}

}  // namespace

Status inspect(const InspectOptions& options) {
  BERTH_TRY(const FileKind kind, kind_of(options.path));
  switch (kind) {
    case FileKind::kPackage:
      return inspect_package(options);
    case FileKind::kProgram:
      return inspect_program(options);
    default:
      return inspect_library(options);
  }
}

}  // namespace berth::cli
