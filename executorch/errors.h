// Berth's errors at ExecuTorch's border: the code that the runtime wants, and
// one logged line with the reason, which a code cannot carry.
#pragma once

#include <executorch/runtime/core/error.h>

#include "berth/error.h"

namespace berth::executorch {

enum class Stage { kInit, kExecute };

// The runtime's code for `code`. Total: every code has one.
::executorch::runtime::Error to_runtime(Code code, Stage stage) noexcept;

// Logs the whole error through ExecuTorch, keeps it for take_last_error(), and
// returns its code. Nothing else in this room logs.
::executorch::runtime::Error report(const Error& error, Stage stage);

}  // namespace berth::executorch
