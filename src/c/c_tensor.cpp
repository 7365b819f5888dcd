#include <memory>
#include <span>
#include <utility>

#include "berth/berth.h"
#include "berth/version.h"
#include "c/guard.h"
#include "c/handles.h"
#include "c/sized.h"

using berth::Code;
using berth::DType;
using berth::Result;
using berth::Status;
using berth::Tensor;
using berth::c::check;
using berth::c::guard;

namespace {

// One enumerator of C is that of C++.
#define BERTH_SAME_DTYPE(c, cpp) \
  static_assert(static_cast<DType>(BERTH_##c) == DType::k##cpp)
BERTH_SAME_DTYPE(UINT8, UInt8);
BERTH_SAME_DTYPE(INT8, Int8);
BERTH_SAME_DTYPE(INT16, Int16);
BERTH_SAME_DTYPE(INT32, Int32);
BERTH_SAME_DTYPE(INT64, Int64);
BERTH_SAME_DTYPE(FLOAT16, Float16);
BERTH_SAME_DTYPE(FLOAT32, Float32);
BERTH_SAME_DTYPE(FLOAT64, Float64);
BERTH_SAME_DTYPE(COMPLEX32, Complex32);
BERTH_SAME_DTYPE(COMPLEX64, Complex64);
BERTH_SAME_DTYPE(COMPLEX128, Complex128);
BERTH_SAME_DTYPE(BOOL, Bool);
BERTH_SAME_DTYPE(BFLOAT16, BFloat16);
BERTH_SAME_DTYPE(FLOAT8_E5M2, Float8E5M2);
BERTH_SAME_DTYPE(FLOAT8_E4M3FN, Float8E4M3FN);
BERTH_SAME_DTYPE(FLOAT8_E5M2FNUZ, Float8E5M2FNUZ);
BERTH_SAME_DTYPE(FLOAT8_E4M3FNUZ, Float8E4M3FNUZ);
BERTH_SAME_DTYPE(UINT16, UInt16);
BERTH_SAME_DTYPE(UINT32, UInt32);
BERTH_SAME_DTYPE(UINT64, UInt64);

// Sets `*out` to a new handle, unless `made` is an error.
Status give(Result<Tensor> made, berth_tensor** out) {
  BERTH_TRY(Tensor tensor, std::move(made));
  *out = new berth_tensor{std::move(tensor)};
  return berth::ok();
}

Result<std::span<const std::int64_t>> sizes_of(const std::int64_t* sizes,
                                               std::size_t dim) {
  if (dim > 0) BERTH_CHECK(check({{sizes, "sizes"}}));
  return std::span(sizes, dim);
}

}  // namespace

const char* berth_version() { return BERTH_VERSION; }

berth_code berth_tensor_borrow(void* data, size_t size_bytes, berth_dtype dtype,
                               size_t dim, const int64_t* sizes,
                               const int64_t* strides, berth_tensor** tensor) {
  return guard([&]() -> Status {
    BERTH_CHECK(check({{tensor, "tensor"}}));
    BERTH_TRY(const auto extents, sizes_of(sizes, dim));
    const std::span given(strides, strides == nullptr ? 0 : dim);
    return give(Tensor::borrow(data, size_bytes, extents, given,
                               static_cast<DType>(dtype)),
                tensor);
  });
}

berth_code berth_tensor_empty(berth_dtype dtype, size_t dim,
                              const int64_t* sizes, berth_tensor** tensor) {
  return guard([&]() -> Status {
    BERTH_CHECK(check({{tensor, "tensor"}}));
    BERTH_TRY(const auto extents, sizes_of(sizes, dim));
    return give(Tensor::empty(extents, static_cast<DType>(dtype)), tensor);
  });
}

berth_code berth_tensor_clone(const berth_tensor* from, berth_tensor** tensor) {
  return guard([&]() -> Status {
    BERTH_CHECK(check({{from, "from"}, {tensor, "tensor"}}));
    return give(from->tensor.clone(), tensor);
  });
}

berth_code berth_tensor_from_dlpack(DLManagedTensorVersioned* array,
                                    berth_tensor** tensor) {
  return guard([&]() -> Status {
    BERTH_CHECK(check({{array, "array"}, {tensor, "tensor"}}));
    // Before the array is taken over: there may be no memory for it.
    auto made = std::make_unique<berth_tensor>();
    BERTH_TRY(made->tensor, Tensor::from_dlpack(array));
    *tensor = made.release();
    return berth::ok();
  });
}

berth_code berth_tensor_to_dlpack(const berth_tensor* tensor,
                                  DLManagedTensorVersioned** array) {
  return guard([&]() -> Status {
    BERTH_CHECK(check({{tensor, "tensor"}, {array, "array"}}));
    BERTH_TRY(*array, tensor->tensor.to_dlpack());
    return berth::ok();
  });
}

berth_code berth_tensor_describe(const berth_tensor* tensor,
                                 berth_tensor_info* info) {
  return guard([&]() -> Status {
    BERTH_CHECK(check({{tensor, "tensor"}, {info, "info"}}));
    const Tensor& it = tensor->tensor;
    berth_tensor_info found{};
    found.data = it.numel() > 0 ? it.data() : nullptr;
    found.size_bytes = it.size_bytes();
    found.dim = it.sizes().size();
    found.sizes = it.sizes().data();
    found.strides = it.strides().data();
    found.dtype = static_cast<berth_dtype>(it.dtype());
    found.is_contiguous = it.is_contiguous() ? 1 : 0;
    return berth::c::write_struct(found, info, "info");
  });
}

void berth_tensor_destroy(berth_tensor* tensor) { delete tensor; }
