// Tensors repeated to common sizes.
#pragma once

#include <cstdint>
#include <vector>

#include "berth/result.h"
#include "berth/tensor.h"
#include "tensor/layout.h"

namespace berth::shim {

using Sizes = std::vector<std::int64_t>;

// The sizes to which tensors of both can be repeated. kInvalidArgument.
Result<Sizes> broadcast_sizes(tensor::Extents a, tensor::Extents b);

// `self` seen with `sizes`, by strides of 0. kInvalidArgument.
Result<Tensor> expand(const Tensor& self, tensor::Extents sizes);

}  // namespace berth::shim
