// Making tensors and destroying them.
#include "shim/functions.h"
#include "shim/trap.h"
#include "tensor/layout.h"

using berth::Code;
using berth::DType;
using berth::fail;
using berth::ok;
using berth::Result;
using berth::Status;
using berth::Tensor;
using berth::shim::borrow;
using berth::shim::give;
using berth::shim::trap;
using berth::tensor::Extents;
using berth::tensor::Footprint;

namespace {

Status check_count(std::int64_t count, const std::int64_t* sizes,
                   const std::int64_t* strides) {
  if (count < 0 || (count > 0 && (sizes == nullptr || strides == nullptr)))
    return fail(Code::kInvalidArgument, count, " sizes at ",
                static_cast<const void*>(sizes), " and strides at ",
                static_cast<const void*>(strides), " cannot be read");
  return ok();
}

Extents extents(const std::int64_t* values, std::int64_t count) {
  return {values, static_cast<std::size_t>(count)};
}

Status check_device(std::int32_t device_type) {
  if (device_type == aoti_berth_device_type_cpu()) return ok();
  return fail(Code::kUnsupported, "device type ", device_type,
              " is not served, only the CPU (", aoti_berth_device_type_cpu(),
              ")");
}

Result<Tensor> empty_strided(std::int64_t ndim, const std::int64_t* sizes,
                             const std::int64_t* strides, std::int32_t dtype,
                             std::int32_t device_type) {
  BERTH_CHECK(check_device(device_type));
  BERTH_CHECK(check_count(ndim, sizes, strides));
  return Tensor::empty_strided(extents(sizes, ndim), extents(strides, ndim),
                               static_cast<DType>(dtype));
}

// `data` is the start of the storage, `storage_offset` where the tensor lies
// in it. The caller vouches for the memory: the delegate does not say its size.
Result<Tensor> from_blob(void* data, std::int64_t ndim,
                         const std::int64_t* sizes, const std::int64_t* strides,
                         std::int64_t storage_offset, std::int32_t dtype_code,
                         std::int32_t device_type) {
  BERTH_CHECK(check_device(device_type));
  BERTH_CHECK(check_count(ndim, sizes, strides));
  const Extents size = extents(sizes, ndim);
  const Extents stride = extents(strides, ndim);
  BERTH_TRY(const Footprint footprint,
            berth::tensor::measure(size, stride, storage_offset));
  const auto dtype = static_cast<DType>(dtype_code);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(footprint.end),
                             berth::element_size(dtype), &bytes))
    return fail(Code::kInvalidArgument, footprint.end, " elements of ",
                berth::to_string(dtype), " are more than memory can hold");
  if (storage_offset == 0)
    return Tensor::borrow(data, bytes, size, stride, dtype);
  const std::int64_t none = 0;
  const std::int64_t step = 1;
  BERTH_TRY(const Tensor storage, Tensor::borrow(data, bytes, Extents(&none, 1),
                                                 Extents(&step, 1), dtype));
  return storage.view(size, stride, storage_offset);
}

}  // namespace

std::int32_t aoti_berth_new_tensor_handle(AtenTensorHandle original,
                                          AtenTensorHandle* out) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* tensor, borrow(original));
    return give(*tensor, out);
  });
}

std::int32_t aoti_berth_new_uninitialized_tensor(AtenTensorHandle* out) {
  return trap(__func__, [&] { return give(Tensor(), out); });
}

std::int32_t aoti_berth_delete_tensor_object(AtenTensorHandle tensor) {
  berth::shim::discard(tensor);
  return 0;
}

std::int32_t aoti_berth_empty_strided(std::int64_t ndim,
                                      const std::int64_t* sizes,
                                      const std::int64_t* strides,
                                      std::int32_t dtype,
                                      std::int32_t device_type, std::int32_t,
                                      AtenTensorHandle* out) {
  return trap(__func__, [&] {
    return give(empty_strided(ndim, sizes, strides, dtype, device_type), out);
  });
}

// Pinning only speeds up transfers to a device; there is none.
std::int32_t aoti_berth_empty_strided_pinned(
    std::int64_t ndim, const std::int64_t* sizes, const std::int64_t* strides,
    std::int32_t dtype, std::int32_t device_type, std::int32_t,
    AtenTensorHandle* out) {
  return trap(__func__, [&] {
    return give(empty_strided(ndim, sizes, strides, dtype, device_type), out);
  });
}

std::int32_t aoti_berth__reinterpret_tensor(AtenTensorHandle self,
                                            std::int64_t ndim,
                                            const std::int64_t* sizes,
                                            const std::int64_t* strides,
                                            std::int64_t storage_offset,
                                            AtenTensorHandle* out) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* tensor, borrow(self));
    BERTH_CHECK(check_count(ndim, sizes, strides));
    return give(tensor->view(extents(sizes, ndim), extents(strides, ndim),
                             storage_offset),
                out);
  });
}

std::int32_t aoti_berth_as_strided(AtenTensorHandle self,
                                   const std::int64_t* sizes,
                                   const std::int64_t* strides,
                                   AtenTensorHandle* out) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* tensor, borrow(self));
    const std::int64_t dim = tensor->dim();
    BERTH_CHECK(check_count(dim, sizes, strides));
    return give(tensor->view(extents(sizes, dim), extents(strides, dim),
                             tensor->storage_offset()),
                out);
  });
}

std::int32_t aoti_berth_create_tensor_from_blob(
    void* data, std::int64_t ndim, const std::int64_t* sizes,
    const std::int64_t* strides, std::int64_t storage_offset,
    std::int32_t dtype, std::int32_t device_type, std::int32_t,
    AtenTensorHandle* out) {
  return trap(__func__, [&] {
    return give(from_blob(data, ndim, sizes, strides, storage_offset, dtype,
                          device_type),
                out);
  });
}

std::int32_t aoti_berth_create_tensor_from_blob_v2(
    void* data, std::int64_t ndim, const std::int64_t* sizes,
    const std::int64_t* strides, std::int64_t storage_offset,
    std::int32_t dtype, std::int32_t device_type, std::int32_t,
    AtenTensorHandle* out, std::int32_t layout, const std::uint8_t*,
    std::int64_t) {
  return trap(__func__, [&]() -> Status {
    if (layout != aoti_berth_layout_strided())
      return fail(Code::kUnsupported, "layout ", layout,
                  " is not served, only strided (", aoti_berth_layout_strided(),
                  ")",
                  layout == aoti_berth_layout__mkldnn()
                      ? "; export the model without freezing=True"
                      : "");
    return give(from_blob(data, ndim, sizes, strides, storage_offset, dtype,
                          device_type),
                out);
  });
}
