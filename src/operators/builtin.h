// Berth's own operators that models call by name.
#pragma once

#include <span>

#include "berth/operator.h"

namespace berth::operators {

struct Builtin {
  const char* schema;
  Result<std::vector<Tensor>> (*function)(std::span<const OperatorArgument>);
};

std::span<const Builtin> builtins() noexcept;

}  // namespace berth::operators
