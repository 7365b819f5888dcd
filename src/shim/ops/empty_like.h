// Room for a result that lies in memory as an argument does.
#pragma once

#include <array>

#include "berth/result.h"
#include "berth/tensor.h"
#include "tensor/layout.h"

namespace berth::shim {

// As torch's empty_like() does: the dimensions of `self` in their order in
// memory, gapless. Uninitialized.
inline Result<Tensor> empty_like(const Tensor& self, DType dtype) {
  std::array<std::int64_t, tensor::kMostDims> strides{};
  tensor::dense_strides(self.sizes(), self.strides(), strides.data());
  return Tensor::empty_strided(
      self.sizes(), tensor::Extents(strides).first(self.sizes().size()), dtype);
}

}  // namespace berth::shim
