// A tensor that says of itself what one likes and has no memory.
//
// Not for computing: what asks for its memory gets none. It is what a compiled
// model is shown to make it say what it expects (model/input_probe.h).
#pragma once

#include "berth/result.h"
#include "berth/tensor.h"
#include "tensor/layout.h"

namespace berth::tensor {

class Hollow {
 public:
  // Of any sizes, as many strides, and any dtype: nothing is checked. Fails
  // with kOutOfMemory.
  static Result<Tensor> make(Extents sizes, Extents strides, DType dtype);
};

}  // namespace berth::tensor
