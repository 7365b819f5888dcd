#include "cli/check_program.h"

#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>
#include <fmt/format.h>

#include <algorithm>

#include "cli/files.h"
#include "cli/named_data.h"
#include "executorch/payload.h"
#include "executorch/program.h"

namespace berth::cli {
namespace {

namespace runtime = ::executorch::runtime;
using executorch::Program;
using executorch::quoted_key;

// For elements of whatever type.
bool has_kernel(const std::string& name) {
  const auto kernels = runtime::get_registered_kernels();
  return std::any_of(
      kernels.begin(), kernels.end(),
      [&name](const runtime::Kernel& kernel) { return kernel.name_ == name; });
}

// A key that the program speaks of and that is nowhere.
Finding absent(const std::string& whose, const char* what,
               const std::string& key) {
  return {Code::kNotFound,
          fmt::format("{}no {} of key {}, neither in the program nor in a .ptd "
                      "file that was given",
                      whose, what, quoted_key(key))};
}

Part examine_method(const Program::Method& method, const NamedData& data) {
  Part part{"method " + method.name, {}, {}};
  for (std::size_t i = 0; i < method.delegates.size(); ++i) {
    const auto& [backend, library, weights, instruction_set] =
        method.delegates[i];
    const std::string name = fmt::format("delegate {}: ", i);
    const auto* found = runtime::get_backend_class(backend.c_str());
    if (found == nullptr || !found->is_available()) {
      part.findings.push_back(
          {Code::kUnsupported,
           name + "its backend '" + backend + "' is not in this command"});
    } else if (!library.empty()) {
      if (!data.find(library))
        part.findings.push_back(absent(name, "library", library));
      if (!data.find(weights))
        part.findings.push_back(absent(name, "weights", weights));
    }
  }
  for (const std::string& key : method.external_constants) {
    if (!data.find(key)) part.findings.push_back(absent("", "constant", key));
  }
  for (const std::string& name : method.operators) {
    if (!has_kernel(name))
      part.findings.push_back(
          {Code::kUnsupported,
           "operator '" + name + "' has no kernel in this command"});
  }
  return part;
}

}  // namespace

Result<std::vector<Part>> examine_program(
    const std::string& path, const std::vector<std::string>& data_paths) {
  runtime::runtime_init();
  BERTH_TRY(const MappedFile file, MappedFile::open(path));
  BERTH_TRY(const Program program, Program::parse(file.bytes()));
  BERTH_TRY(const NamedData data, NamedData::gather(program, data_paths));
  std::vector<Part> parts;
  for (const Program::Method& method : program.methods())
    parts.push_back(examine_method(method, data));
  for (const auto& [key, instruction_set, users] : libraries_of(program)) {
    if (const auto image = data.find(key))
      parts.push_back(
          examine_library(fmt::format("library {} of {}", quoted_key(key),
                                      fmt::join(users, ", ")),
                          *image, instruction_set));
  }
  return parts;
}

}  // namespace berth::cli
