// `berth check` of an ExecuTorch program.
#pragma once

#include <string>
#include <vector>

#include "cli/findings.h"

namespace berth::cli {

// Every method with its operators, backends and data, and every library. Fails
// when the program or a data file cannot be read.
Result<std::vector<Part>> examine_program(
    const std::string& path, const std::vector<std::string>& data_paths);

}  // namespace berth::cli
