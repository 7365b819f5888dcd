// Each function of ours has the type of torch's, and each constant its value.
// Most of it happens when this file compiles.
#include <gmock/gmock.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/inductor/aoti_torch/c/shim_cpu.h>
#include <torch/csrc/inductor/aoti_torch/generated/c_shim_cpu.h>
#include <torch/headeronly/core/DeviceType.h>
#include <torch/headeronly/core/Layout.h>
#include <torch/headeronly/core/MemoryFormat.h>
#include <torch/headeronly/core/ScalarType.h>
#include <torch/headeronly/version.h>

#include <type_traits>

#include "shim/functions.h"

namespace berth::shim {
namespace {

// torch's class for an element, as ours: they need not be the same class, only
// the same bytes, passed in the same registers.
template <typename T>
struct Ours {
  using Type = T;
};
template <typename T>
struct Ours<T*> {
  using Type = typename Ours<T>::Type*;
};
template <>
struct Ours<c10::Half> {
  using Type = tensor::Half;
};
template <>
struct Ours<c10::BFloat16> {
  using Type = tensor::BFloat16;
};
template <typename T>
struct Ours<c10::complex<T>> {
  using Type = tensor::Complex<T>;
};
template <typename R, typename... Args>
struct Ours<R (*)(Args...)> {
  using Type = R (*)(typename Ours<Args>::Type...);
};

template <typename Theirs, typename Mine>
constexpr bool kAlike =
    sizeof(Theirs) == sizeof(Mine) && alignof(Theirs) == alignof(Mine) &&
    std::is_trivially_copyable_v<Theirs>&& std::is_trivially_copyable_v<Mine>;
static_assert(kAlike<c10::Half, tensor::Half>);
static_assert(kAlike<c10::BFloat16, tensor::BFloat16>);
static_assert(kAlike<c10::complex<float>, tensor::Complex<float>>);
static_assert(kAlike<c10::complex<double>, tensor::Complex<double>>);

#define BERTH_SERVED(name, theme)                                       \
  static_assert(                                                        \
      std::is_same_v<typename Ours<decltype(&aoti_torch_##name)>::Type, \
                     decltype(&aoti_berth_##name)>,                     \
      "aoti_berth_" #name " must have the type of torch's");
#include "shim/served.inc"
#undef BERTH_SERVED

std::int32_t number(auto value) { return static_cast<std::int32_t>(value); }

TEST(Abi, DevicesHaveTorchsValues) {
  EXPECT_EQ(aoti_berth_device_type_cpu(), number(c10::DeviceType::CPU));
  EXPECT_EQ(aoti_berth_device_type_cuda(), number(c10::DeviceType::CUDA));
  EXPECT_EQ(aoti_berth_device_type_xpu(), number(c10::DeviceType::XPU));
  EXPECT_EQ(aoti_berth_device_type_mps(), number(c10::DeviceType::MPS));
  EXPECT_EQ(aoti_berth_device_type_meta(), number(c10::DeviceType::Meta));
  EXPECT_EQ(aoti_berth_device_type_privateuse1(),
            number(c10::DeviceType::PrivateUse1));
}

TEST(Abi, DtypesHaveTorchsValues) {
  using c10::ScalarType;
  EXPECT_EQ(aoti_berth_dtype_uint8(), number(ScalarType::Byte));
  EXPECT_EQ(aoti_berth_dtype_int8(), number(ScalarType::Char));
  EXPECT_EQ(aoti_berth_dtype_int16(), number(ScalarType::Short));
  EXPECT_EQ(aoti_berth_dtype_int32(), number(ScalarType::Int));
  EXPECT_EQ(aoti_berth_dtype_int64(), number(ScalarType::Long));
  EXPECT_EQ(aoti_berth_dtype_float16(), number(ScalarType::Half));
  EXPECT_EQ(aoti_berth_dtype_float32(), number(ScalarType::Float));
  EXPECT_EQ(aoti_berth_dtype_float64(), number(ScalarType::Double));
  EXPECT_EQ(aoti_berth_dtype_complex32(), number(ScalarType::ComplexHalf));
  EXPECT_EQ(aoti_berth_dtype_complex64(), number(ScalarType::ComplexFloat));
  EXPECT_EQ(aoti_berth_dtype_complex128(), number(ScalarType::ComplexDouble));
  EXPECT_EQ(aoti_berth_dtype_bool(), number(ScalarType::Bool));
  EXPECT_EQ(aoti_berth_dtype_bfloat16(), number(ScalarType::BFloat16));
  EXPECT_EQ(aoti_berth_dtype_float8_e5m2(), number(ScalarType::Float8_e5m2));
  EXPECT_EQ(aoti_berth_dtype_float8_e4m3fn(),
            number(ScalarType::Float8_e4m3fn));
  EXPECT_EQ(aoti_berth_dtype_float8_e5m2fnuz(),
            number(ScalarType::Float8_e5m2fnuz));
  EXPECT_EQ(aoti_berth_dtype_float8_e4m3fnuz(),
            number(ScalarType::Float8_e4m3fnuz));
  EXPECT_EQ(aoti_berth_dtype_uint16(), number(ScalarType::UInt16));
  EXPECT_EQ(aoti_berth_dtype_uint32(), number(ScalarType::UInt32));
  EXPECT_EQ(aoti_berth_dtype_uint64(), number(ScalarType::UInt64));
  EXPECT_EQ(aoti_berth_dtype_float8_e8m0fnu(),
            number(ScalarType::Float8_e8m0fnu));
  EXPECT_EQ(aoti_berth_dtype_float4_e2m1fn_x2(),
            number(ScalarType::Float4_e2m1fn_x2));
}

TEST(Abi, LayoutsAndFormatsHaveTorchsValues) {
  using c10::Layout;
  EXPECT_EQ(aoti_berth_layout_strided(), number(Layout::Strided));
  EXPECT_EQ(aoti_berth_layout_sparse_coo(), number(Layout::Sparse));
  EXPECT_EQ(aoti_berth_layout_sparse_csr(), number(Layout::SparseCsr));
  EXPECT_EQ(aoti_berth_layout__mkldnn(), number(Layout::Mkldnn));
  EXPECT_EQ(aoti_berth_layout_sparse_csc(), number(Layout::SparseCsc));
  EXPECT_EQ(aoti_berth_layout_sparse_bsr(), number(Layout::SparseBsr));
  EXPECT_EQ(aoti_berth_layout_sparse_bsc(), number(Layout::SparseBsc));
  EXPECT_EQ(aoti_berth_layout_jagged(), number(Layout::Jagged));

  using c10::MemoryFormat;
  EXPECT_EQ(aoti_berth_memory_format_contiguous_format(),
            number(MemoryFormat::Contiguous));
  EXPECT_EQ(aoti_berth_memory_format_preserve_format(),
            number(MemoryFormat::Preserve));
  EXPECT_EQ(aoti_berth_memory_format_channels_last(),
            number(MemoryFormat::ChannelsLast));
  EXPECT_EQ(aoti_berth_memory_format_channels_last_3d(),
            number(MemoryFormat::ChannelsLast3d));
}

TEST(Abi, TheVersionIsThatOfTheseHeaders) {
  EXPECT_EQ(aoti_berth_abi_version(), TORCH_ABI_VERSION);
}

}  // namespace
}  // namespace berth::shim
