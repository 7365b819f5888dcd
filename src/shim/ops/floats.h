// Tensors of 16-bit floats in float, in which operators sum, and back.
#pragma once

#include "berth/result.h"
#include "berth/tensor.h"

namespace berth::shim {

// The same numbers in float, without gaps and in the same order in memory;
// float itself is handed through as it is. Fails with kUnsupported for other
// dtypes than float, Half and BFloat16, kOutOfMemory.
Result<Tensor> widened(const Tensor& tensor);

// Rounds to `out`, of one of those dtypes and of the sizes and strides of
// `floats`, which has no gaps. Nothing happens when both are one.
Status narrow(const Tensor& floats, const Tensor& out);

}  // namespace berth::shim
