// Copying and sharing what tensors hold.
#include <algorithm>
#include <array>

#include "shim/functions.h"
#include "shim/trap.h"
#include "tensor/copy.h"
#include "tensor/layout.h"

using berth::Code;
using berth::fail;
using berth::ok;
using berth::Result;
using berth::Status;
using berth::Tensor;
using berth::shim::borrow;
using berth::shim::give;
using berth::shim::trap;
using berth::tensor::Extents;
using berth::tensor::kMostDims;
using berth::tensor::to_text;

namespace {

// target.copy_(source): the source may be repeated to the target's sizes.
Status copy(AtenTensorHandle source_handle, AtenTensorHandle target_handle) {
  BERTH_TRY(const Tensor* source, borrow(source_handle));
  BERTH_TRY(Tensor * target, borrow(target_handle));
  // A tensor copied onto itself stays as it is, and would overlap.
  if (source->data() == target->data() &&
      std::ranges::equal(source->sizes(), target->sizes()) &&
      std::ranges::equal(source->strides(), target->strides()) &&
      source->dtype() == target->dtype())
    return ok();
  if (std::ranges::equal(source->sizes(), target->sizes()))
    return target->copy_from(*source);
  std::array<std::int64_t, kMostDims> strides;  // NOLINT: written where used
  if (!berth::tensor::broadcast_strides(source->sizes(), source->strides(),
                                        target->sizes(), strides.data()))
    return fail(Code::kInvalidArgument, "a source of sizes ",
                to_text(source->sizes()), " cannot be expanded to ",
                to_text(target->sizes()));
  BERTH_TRY(const Tensor expanded,
            source->view(target->sizes(),
                         Extents(strides).first(target->sizes().size()),
                         source->storage_offset()));
  return target->copy_from(expanded);
}

// As torch's clone() does: without gaps, dimensions in the order in memory.
Result<Tensor> clone(const Tensor& self) {
  std::array<std::int64_t, kMostDims> strides;  // NOLINT: written where used
  berth::tensor::dense_strides(self.sizes(), self.strides(), strides.data());
  BERTH_TRY(Tensor made,
            Tensor::empty_strided(self.sizes(),
                                  Extents(strides).first(self.sizes().size()),
                                  self.dtype()));
  BERTH_CHECK(made.copy_from(self));
  return made;
}

// The whole storage, and the same view of it: gaps and repetitions stay.
Result<Tensor> clone_storage(const Tensor& self) {
  const auto count = static_cast<std::int64_t>(
      self.storage_size_bytes() / berth::element_size(self.dtype()));
  const std::int64_t step = 1;
  BERTH_TRY(const Tensor whole,
            self.view(Extents(&count, 1), Extents(&step, 1), 0));
  BERTH_TRY(const Tensor made, whole.clone());
  return made.view(self.sizes(), self.strides(), self.storage_offset());
}

}  // namespace

std::int32_t aoti_berth_assign_tensors(AtenTensorHandle source,
                                       AtenTensorHandle target) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* from, borrow(source));
    BERTH_TRY(Tensor * to, borrow(target));
    *to = *from;
    return ok();
  });
}

std::int32_t aoti_berth_assign_tensors_out(AtenTensorHandle source,
                                           AtenTensorHandle* out) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* from, borrow(source));
    return give(*from, out);
  });
}

std::int32_t aoti_berth_tensor_copy_(AtenTensorHandle source,
                                     AtenTensorHandle target) {
  return trap(__func__, [&] { return copy(source, target); });
}

std::int32_t aoti_berth_copy_(AtenTensorHandle self, AtenTensorHandle source,
                              std::int32_t) {
  return trap(__func__, [&] { return copy(source, self); });
}

std::int32_t aoti_berth_clone(AtenTensorHandle self, AtenTensorHandle* out) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* tensor, borrow(self));
    return give(clone(*tensor), out);
  });
}

std::int32_t aoti_berth_clone_preserve_strides(AtenTensorHandle self,
                                               AtenTensorHandle* out) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* tensor, borrow(self));
    return give(clone_storage(*tensor), out);
  });
}

std::int32_t aoti_berth_zero_(AtenTensorHandle self) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(Tensor * tensor, borrow(self));
    berth::tensor::zero_elements(
        tensor->sizes(), berth::element_size(tensor->dtype()),
        static_cast<std::byte*>(tensor->data()), tensor->strides());
    return ok();
  });
}
