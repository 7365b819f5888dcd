// `berth check` of a package.
#pragma once

#include <string>
#include <vector>

#include "cli/findings.h"

namespace berth::cli {

// The model of that name, or all models when the name is empty. Fails when the
// package cannot be read or has no such model.
Result<std::vector<Part>> examine_package(const std::string& path,
                                          const std::string& model_name);

}  // namespace berth::cli
