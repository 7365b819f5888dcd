#include "tensor/hollow.h"

#include <utility>

#include "tensor/storage.h"

namespace berth::tensor {

Result<Tensor> Hollow::make(Extents sizes, Extents strides, DType dtype) {
  Storage* nothing = Storage::borrow(nullptr, 0);
  if (nothing == nullptr)
    return fail(Code::kOutOfMemory, "no memory for a tensor's description");
  BERTH_TRY(Tensor tensor, Tensor::make(nothing, 0, sizes, strides, 0, dtype));
  std::exchange(tensor.storage_, nullptr)->release();
  return tensor;
}

}  // namespace berth::tensor
