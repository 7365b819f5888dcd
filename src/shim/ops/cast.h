// Elements as another dtype.
#pragma once

#include "berth/result.h"
#include "berth/tensor.h"

namespace berth::shim {

// `self` itself where it is of that dtype, else a row-major copy. As in torch,
// a fraction is cut off and any number but zero is true; what the target cannot
// hold is undefined. Fails with kUnsupported for complex numbers and 8-bit
// floats.
Result<Tensor> cast(const Tensor& self, DType dtype);

}  // namespace berth::shim
