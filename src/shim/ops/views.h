// Views that other operators need, too.
#pragma once

#include <cstdint>

#include "berth/result.h"
#include "berth/tensor.h"

namespace berth::shim {

// Without dimension `dim`, which counts from the end when negative, if its size
// is 1; else `self`. kInvalidArgument for a dimension that is not there.
Result<Tensor> squeeze(const Tensor& self, std::int64_t dim);

}  // namespace berth::shim
