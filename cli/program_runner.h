// Runs one method of an ExecuTorch program on the ExecuTorch runtime.
#pragma once

#include <memory>

#include "cli/runner.h"

namespace berth::cli {

// Loads the program and its method. The runtime's own log lines are kept and
// become part of the error when loading or running fails.
Result<std::unique_ptr<Runner>> load_program(const Source& source);

}  // namespace berth::cli
