#include <algorithm>
#include <array>
#include <limits>
#include <new>

#include "base/checked.h"
#include "berth/tensor.h"
#include "tensor/dlpack_abi.h"
#include "tensor/layout.h"
#include "tensor/storage.h"

namespace berth {
namespace {

namespace dlpack = tensor::dlpack;
using tensor::Extents;
using tensor::to_text;

struct TypeRow {
  DType dtype;
  std::uint8_t code;
  std::uint8_t bits;
};

// Every DType has a row.
constexpr TypeRow kTypes[] = {
    {DType::kUInt8, dlpack::kUInt, 8},
    {DType::kInt8, dlpack::kInt, 8},
    {DType::kInt16, dlpack::kInt, 16},
    {DType::kInt32, dlpack::kInt, 32},
    {DType::kInt64, dlpack::kInt, 64},
    {DType::kFloat16, dlpack::kFloat, 16},
    {DType::kFloat32, dlpack::kFloat, 32},
    {DType::kFloat64, dlpack::kFloat, 64},
    {DType::kComplex32, dlpack::kComplex, 32},
    {DType::kComplex64, dlpack::kComplex, 64},
    {DType::kComplex128, dlpack::kComplex, 128},
    {DType::kBool, dlpack::kBool, 8},
    {DType::kBFloat16, dlpack::kBfloat, 16},
    {DType::kFloat8E5M2, dlpack::kFloat8E5M2, 8},
    {DType::kFloat8E4M3FN, dlpack::kFloat8E4M3FN, 8},
    {DType::kFloat8E5M2FNUZ, dlpack::kFloat8E5M2FNUZ, 8},
    {DType::kFloat8E4M3FNUZ, dlpack::kFloat8E4M3FNUZ, 8},
    {DType::kUInt16, dlpack::kUInt, 16},
    {DType::kUInt32, dlpack::kUInt, 32},
    {DType::kUInt64, dlpack::kUInt, 64},
};

Result<DType> dtype_of(DLDataType type) {
  if (type.lanes == 1) {
    for (const TypeRow& row : kTypes) {
      if (row.code == type.code && row.bits == type.bits) return row.dtype;
    }
  }
  return fail(Code::kUnsupported, "the array's elements are of DLPack's type ",
              int{type.code}, " with ", int{type.bits}, " bits and ",
              type.lanes, " lanes, which no dtype is");
}

// Pinned memory is the CPU's, too. What a device and the CPU share by moving
// its pages is not: only the device's own library knows when it may be read.
Status check_device(DLDevice device) {
  const std::int32_t type = device.device_type;
  if (type == dlpack::kCpu || type == dlpack::kCudaHost ||
      type == dlpack::kRocmHost)
    return ok();
  return fail(Code::kUnsupported, "the array is on DLPack's device type ", type,
              ", expected the CPU's memory (", dlpack::kCpu, ", or pinned, ",
              dlpack::kCudaHost, " or ", dlpack::kRocmHost, ")");
}

// An array as Tensor::borrow() takes it. Sizes are still the array's own.
struct Described {
  DType dtype;
  void* data;
  std::size_t size_bytes;
  Extents sizes;
  std::array<std::int64_t, tensor::kMostDims> strides;

  Extents used_strides() const { return Extents(strides).first(sizes.size()); }
};

Result<Extents> sizes_of(const DLTensor& array) {
  if (array.ndim < 0)
    return fail(Code::kInvalidArgument, "the array has ", array.ndim,
                " dimensions");
  if (array.ndim > 0 && array.shape == nullptr)
    return fail(Code::kInvalidArgument, "the array has ", array.ndim,
                " dimensions, and null for their sizes");
  const Extents sizes(array.shape, static_cast<std::size_t>(array.ndim));
  BERTH_CHECK(tensor::checked_numel(sizes));
  return sizes;
}

void write_strides(const DLTensor& array, Extents sizes,
                   std::int64_t* strides) {
  if (array.strides == nullptr)
    return tensor::contiguous_strides(sizes, strides);
  std::copy_n(array.strides, sizes.size(), strides);
  // A reversed array keeps its negative stride when it has one element left,
  // where no stride is ever used.
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] <= 1) strides[i] = std::max<std::int64_t>(strides[i], 0);
  }
}

// DLPack tells where an array begins, not how large its memory is: that is as
// much as its elements need.
Status find_memory(const DLTensor& array, Described& out) {
  BERTH_TRY(const tensor::Footprint covered,
            tensor::measure(out.sizes, out.used_strides(), 0));
  if (covered.numel == 0) return ok();
  if (array.data == nullptr)
    return fail(Code::kInvalidArgument, "null data for ", covered.numel,
                " elements of sizes ", to_text(out.sizes));
  const auto bytes = base::product(static_cast<std::uint64_t>(covered.end),
                                   element_size(out.dtype));
  const auto begin = reinterpret_cast<std::uintptr_t>(array.data);
  const auto most = std::numeric_limits<std::uintptr_t>::max() - begin;
  if (!bytes || !base::fits(array.byte_offset, *bytes, most))
    return fail(Code::kInvalidArgument, "sizes ", to_text(out.sizes),
                " with strides ", to_text(out.used_strides()), " of ",
                to_string(out.dtype), " from byte ", array.byte_offset,
                " on need more memory than there are addresses");
  out.data = static_cast<std::byte*>(array.data) + array.byte_offset;
  out.size_bytes = *bytes;
  return ok();
}

Result<Described> describe(const DLTensor& array) {
  Described out{};
  BERTH_CHECK(check_device(array.device));
  BERTH_TRY(out.dtype, dtype_of(array.dtype));
  BERTH_TRY(out.sizes, sizes_of(array));
  write_strides(array, out.sizes, out.strides.data());
  BERTH_CHECK(find_memory(array, out));
  return out;
}

Result<Tensor> borrow_elements(const DLTensor& array) {
  BERTH_TRY(const Described& it, describe(array));
  return Tensor::borrow(it.data, it.size_bytes, it.sizes, it.used_strides(),
                        it.dtype);
}

template <typename Array>
void call_deleter(void* given) noexcept {
  auto* array = static_cast<Array*>(given);
  if (array->deleter != nullptr) array->deleter(array);
}

// An array of ours: what DLPack's struct points to is the tensor beside it.
template <typename Array>
struct Exported {
  Array array{};
  Tensor tensor;
};

template <typename Array>
Result<Array*> export_tensor(const Tensor& tensor) {
  auto* made = new (std::nothrow) Exported<Array>{{}, tensor};
  if (made == nullptr)
    return fail(Code::kOutOfMemory, "no memory for an array's description");
  const auto* row = std::find_if(
      std::begin(kTypes), std::end(kTypes),
      [&](const TypeRow& each) { return each.dtype == tensor.dtype(); });
  DLTensor& array = made->array.dl_tensor;
  // Null without elements, as the specification wants it.
  array.data = tensor.numel() == 0 ? nullptr : tensor.data();
  array.device = {dlpack::kCpu, 0};
  array.ndim = static_cast<std::int32_t>(tensor.dim());
  array.dtype = {row->code, row->bits, 1};
  // DLPack has no const; whoever takes an array only reads them.
  array.shape = const_cast<std::int64_t*>(made->tensor.sizes().data());
  array.strides = const_cast<std::int64_t*>(made->tensor.strides().data());
  made->array.manager_ctx = made;
  made->array.deleter = [](Array* self) {
    delete static_cast<Exported<Array>*>(self->manager_ctx);
  };
  return &made->array;
}

}  // namespace

Result<Tensor> Tensor::from_dlpack(DLManagedTensorVersioned* array) {
  if (array == nullptr)
    return fail(Code::kInvalidArgument, "the array is null");
  if (array->version.major != dlpack::kMajorVersion)
    return fail(Code::kIncompatible, "the array is of DLPack ",
                array->version.major, ".", array->version.minor,
                ", expected version ", dlpack::kMajorVersion);
  BERTH_TRY(Tensor tensor, borrow_elements(array->dl_tensor));
  tensor.storage_->give_back_by(call_deleter<DLManagedTensorVersioned>, array);
  return tensor;
}

Result<Tensor> Tensor::from_dlpack(DLManagedTensor* array) {
  if (array == nullptr)
    return fail(Code::kInvalidArgument, "the array is null");
  BERTH_TRY(Tensor tensor, borrow_elements(array->dl_tensor));
  tensor.storage_->give_back_by(call_deleter<DLManagedTensor>, array);
  return tensor;
}

Result<DLManagedTensorVersioned*> Tensor::to_dlpack() const {
  BERTH_TRY(auto* array, export_tensor<DLManagedTensorVersioned>(*this));
  array->version = {dlpack::kMajorVersion, dlpack::kMinorVersion};
  return array;
}

Result<DLManagedTensor*> Tensor::to_dlpack_unversioned() const {
  return export_tensor<DLManagedTensor>(*this);
}

}  // namespace berth
