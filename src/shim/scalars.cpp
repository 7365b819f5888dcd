// Tensors of one element to numbers and back.
#include <cstring>

#include "shim/functions.h"
#include "shim/number.h"
#include "shim/trap.h"

namespace berth::shim {
namespace {

template <typename T>
Status read_item(AtenTensorHandle handle, T* out) {
  BERTH_TRY(const Tensor* tensor, borrow(handle));
  BERTH_TRY(const Number number, number_of(*tensor));
  // The same type is handed over bit by bit: no NaN loses its payload.
  if constexpr (!std::is_same_v<T, bool>) {
    if (tensor->dtype() == tensor::kDTypeOf<T>) {
      std::memcpy(out, tensor->data(), sizeof(T));
      return ok();
    }
  }
  const std::optional<T> value = convert<T>(number);
  if (!value)
    return fail(Code::kInvalidArgument, "the element of a tensor of ",
                to_string(tensor->dtype()), " does not fit into ",
                to_string(tensor::kDTypeOf<T>));
  *out = *value;
  return ok();
}

template <typename T>
Status give_scalar(const T& value, AtenTensorHandle* out) {
  Result<Tensor> tensor = Tensor::empty({}, tensor::kDTypeOf<T>);
  if (tensor) std::memcpy(tensor->data(), &value, sizeof(T));
  return give(std::move(tensor), out);
}

}  // namespace
}  // namespace berth::shim

#define BERTH_ITEM(dtype, type)                                              \
  std::int32_t aoti_berth_item_##dtype(AtenTensorHandle tensor, type* out) { \
    return berth::shim::trap(                                                \
        __func__, [&] { return berth::shim::read_item(tensor, out); });      \
  }
#define BERTH_SCALAR(dtype, type)                                           \
  std::int32_t aoti_berth_scalar_to_tensor_##dtype(type value,              \
                                                   AtenTensorHandle* out) { \
    return berth::shim::trap(                                               \
        __func__, [&] { return berth::shim::give_scalar(value, out); });    \
  }
#include "shim/scalars.inc"
#undef BERTH_ITEM
#undef BERTH_SCALAR
