#include "cli/inspect.h"

#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "berth/inspection.h"
#include "cli/files.h"
#include "cli/runner.h"
#include "executorch/payload.h"
#include "executorch/program.h"

namespace berth::cli {
namespace {

using Json = nlohmann::ordered_json;
using berth::executorch::Program;
using berth::executorch::quoted_key;
using Bytes = std::span<const std::byte>;

// The named data of a program and of its .ptd files, by key.
// Owns     copies of what came from the .ptd files.
class NamedData {
 public:
  static Result<NamedData> gather(const Program& program,
                                  const std::vector<std::string>& data_paths) {
    NamedData data;
    for (const auto& [key, bytes] : program.named_data())
      data.entries_.emplace(key, bytes);
    for (const std::string& path : data_paths)
      BERTH_CHECK(noted(data.add(path), "reading '" + path + "'"));
    return data;
  }

  std::optional<Bytes> find(const std::string& key) const {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return std::nullopt;
    return found->second;
  }

 private:
  Status add(const std::string& path) {
    namespace extension = ::executorch::extension;
    auto loader = extension::FileDataLoader::from(path.c_str());
    if (!loader.ok()) return fail(Code::kNotFound, "cannot open the file");
    auto map = extension::FlatTensorDataMap::load(&loader.get());
    if (!map.ok()) return fail(Code::kCorrupt, "not a .ptd file");
    const auto count = map->get_num_keys();
    if (!count.ok()) return fail(Code::kCorrupt, "the file has no keys");
    for (std::uint32_t i = 0; i < count.get(); ++i) {
      const auto key = map->get_key(i);
      if (!key.ok()) return fail(Code::kCorrupt, "key ", i, " is not there");
      const auto data = map->get_data(key.get());
      if (!data.ok())
        return fail(Code::kCorrupt, "the data of key ", quoted_key(key.get()),
                    " cannot be read");
      const auto* bytes = static_cast<const std::byte*>(data->data());
      owned_.emplace_back(bytes, bytes + data->size());
      entries_.emplace(key.get(), Bytes(owned_.back()));
    }
    return ok();
  }

  std::vector<std::vector<std::byte>> owned_;
  std::map<std::string, Bytes> entries_;
};

Json to_json(const Inspection& library) {
  return {{"size_bytes", library.size_bytes},
          {"needed", library.needed},
          {"served", library.served},
          {"not_served", library.not_served},
          {"other_imports", library.other_imports},
          {"missing", library.missing},
          {"unique_symbols", library.unique_symbols},
          {"executable_stack", library.executable_stack},
          {"tls_size_bytes", library.tls_size_bytes},
          {"refusals", library.refusals}};
}

void print_list(std::string_view title, const std::vector<std::string>& items) {
  constexpr std::size_t kWidth = 80;
  std::string line = fmt::format("    {:<16}", title);
  if (items.empty()) line += "none";
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + (i + 1 < items.size() ? "," : "");
    if (line.size() + item.size() + 1 > kWidth && line.size() > 20) {
      fmt::print("{}\n", line);
      line = std::string(20, ' ');
    } else if (i > 0) {
      line += ' ';
    }
    line += item;
  }
  fmt::print("{}\n", line);
}

// For people: without the prefix that nearly all of them share.
std::vector<std::string> short_names(std::vector<std::string> names) {
  constexpr std::string_view kPrefix = "aoti_torch_";
  for (std::string& name : names) {
    if (name.starts_with(kPrefix)) name.erase(0, kPrefix.size());
  }
  std::ranges::sort(names);
  return names;
}

void print_library(const Inspection& library) {
  fmt::print("    {:<16}{} bytes\n", "size", library.size_bytes);
  print_list("needs", library.needed);
  print_list("served", short_names(library.served));
  print_list("not served", short_names(library.not_served));
  fmt::print("    {:<16}{} others (--json names them)\n", "imports",
             library.other_imports.size());
  print_list("not found", library.missing);
  fmt::print("    {:<16}{}\n", "unique symbols", library.unique_symbols.size());
  fmt::print("    {:<16}{}\n", "stack",
             library.executable_stack ? "asks for an executable one, cleared"
                                      : "not executable");
  if (library.refusals.empty()) {
    fmt::print("    {:<16}yes\n", "loadable here");
  } else {
    print_list("refused", library.refusals);
  }
}

Status inspect_library(const InspectOptions& options) {
  BERTH_TRY(const auto bytes, read_file(options.path));
  BERTH_TRY(const Inspection library,
            noted(Inspection::of(bytes), "reading '" + options.path + "'"));
  if (options.json) {
    fmt::print("{}\n", to_json(library).dump(2));
  } else {
    fmt::print("{}\n", options.path);
    print_library(library);
  }
  return ok();
}

// Which delegates have which library, in order of first use.
struct Shared {
  std::string key;
  std::vector<std::string> users;  // "forward 0"
};

std::vector<Shared> libraries_of(const Program& program) {
  std::vector<Shared> libraries;
  for (const auto& method : program.methods()) {
    for (std::size_t i = 0; i < method.delegates.size(); ++i) {
      const std::string& key = method.delegates[i].library_key;
      if (key.empty()) continue;
      auto found = std::ranges::find(libraries, key, &Shared::key);
      if (found == libraries.end())
        found = libraries.insert(libraries.end(), Shared{key, {}});
      found->users.push_back(method.name + " " + std::to_string(i));
    }
  }
  return libraries;
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
  BERTH_TRY(const auto bytes, read_file(options.path));
  BERTH_TRY(const Program program,
            noted(Program::parse(bytes), "reading '" + options.path + "'"));
  BERTH_TRY(const NamedData data,
            NamedData::gather(program, options.data_paths));
  if (!options.json) print_program(options, program, data);

  Json libraries = Json::array();
  for (const Shared& shared : libraries_of(program)) {
    const auto image = data.find(shared.key);
    if (!options.json)
      fmt::print("  library {}  used by {}\n", quoted_key(shared.key),
                 fmt::join(shared.users, ", "));
    Json entry = {{"key", shared.key}, {"users", shared.users}};
    if (image) {
      // A refused library is what an inspection is for, not its end.
      const auto library = Inspection::of(*image);
      if (!library) {
        entry["error"] = library.error().to_string();
        if (!options.json) fmt::print("    {}\n", library.error().to_string());
      } else {
        entry["library"] = to_json(*library);
        if (!options.json) print_library(*library);
      }
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
  BERTH_TRY(const bool program, is_program(options.path));
  return program ? inspect_program(options) : inspect_library(options);
}

}  // namespace berth::cli
