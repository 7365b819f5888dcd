#include "cli/check_package.h"

#include "berth/package.h"

namespace berth::cli {
namespace {

Part examine_model(const Package& package, const PackagedModel& model) {
  std::vector<Finding> findings;
  for (const auto& [what, compiled_for, here] : model.mismatches())
    findings.push_back({Code::kIncompatible,
                        "it was compiled for " + what + " '" + compiled_for +
                            "', here it is '" + here + "'"});
  const std::string name = "model " + model.name;
  Part part{name, {}, {}};
  const auto library = package.read(model.library.name);
  const auto operators = model.operators ? package.read(model.operators->name)
                                         : std::vector<std::byte>();
  if (library && operators) {
    part = examine_library(name, *library, model.instruction_set, *operators);
  } else {
    const auto& failed = library ? operators : library;
    part.findings.push_back(finding_of(failed.error()));
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
