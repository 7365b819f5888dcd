#pragma once

#include <span>
#include <vector>

#include "berth/operator.h"

namespace berth::operators {

// aten::median.dim: the lower median of each line, and where it is. A line with
// a NaN has the first NaN.
Result<std::vector<Tensor>> median_of_dim(
    std::span<const OperatorArgument> arguments);

}  // namespace berth::operators
