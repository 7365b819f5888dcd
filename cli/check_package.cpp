#include "cli/check_package.h"

#include <sys/utsname.h>

#include <algorithm>

#include "berth/package.h"

namespace berth::cli {
namespace {

// Nothing when the package does not say, or says what is here.
void compare(const char* what, const std::string& compiled_for,
             const std::string& here, std::vector<Finding>& findings) {
  if (compiled_for.empty() || compiled_for == here) return;
  findings.push_back({Code::kIncompatible, std::string("it was compiled for ") +
                                               what + " '" + compiled_for +
                                               "', here it is '" + here + "'"});
}

Part examine_model(const Package& package, const PackagedModel& model) {
  utsname system{};
  ::uname(&system);
  std::vector<Finding> findings;
  compare("platform", model.platform, "linux", findings);
  compare("machine", model.machine, system.machine, findings);
  compare("device", model.device, "cpu", findings);
  const std::string name = "model " + model.name;
  Part part{name, {}, {}};
  const auto library = package.read(model.library.name);
  if (library) {
    part = examine_library(name, *library, model.instruction_set);
  } else {
    part.findings.push_back(finding_of(library.error()));
  }
  part.findings.insert(part.findings.begin(), findings.begin(), findings.end());
  // Their checksums are verified.
  for (const PackagedFile& file : model.constant_files) {
    const auto bytes = package.read(file.name);
    if (!bytes) part.findings.push_back(finding_of(bytes.error()));
  }
  return part;
}

}  // namespace

Result<std::vector<Part>> examine_package(const std::string& path,
                                          const std::string& model_name) {
  BERTH_TRY(const Package package, Package::open(path));
  std::vector<Part> parts;
  if (!model_name.empty()) {
    BERTH_TRY(const PackagedModel* model, package.find(model_name));
    parts.push_back(examine_model(package, *model));
    return parts;
  }
  for (const PackagedModel& model : package.models())
    parts.push_back(examine_model(package, model));
  return parts;
}

}  // namespace berth::cli
