// Tensors as DLPack's arrays. The other way round: dlpack_test.cpp.
#include <gmock/gmock.h>

#include <numeric>
#include <span>
#include <thread>
#include <vector>

#include "berth/tensor.h"
#include "tensor/dlpack_abi.h"

namespace berth {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using Numbers = std::vector<std::int64_t>;
using Versioned = DLManagedTensorVersioned;

struct ArrayType {
  DType dtype;
  int code;
  int bits;
};

// The specification's table, written down once more.
constexpr ArrayType kArrayTypes[] = {
    {DType::kInt8, 0, 8},          {DType::kInt16, 0, 16},
    {DType::kInt32, 0, 32},        {DType::kInt64, 0, 64},
    {DType::kUInt8, 1, 8},         {DType::kUInt16, 1, 16},
    {DType::kUInt32, 1, 32},       {DType::kUInt64, 1, 64},
    {DType::kFloat16, 2, 16},      {DType::kFloat32, 2, 32},
    {DType::kFloat64, 2, 64},      {DType::kBFloat16, 4, 16},
    {DType::kComplex32, 5, 32},    {DType::kComplex64, 5, 64},
    {DType::kComplex128, 5, 128},  {DType::kBool, 6, 8},
    {DType::kFloat8E4M3FN, 10, 8}, {DType::kFloat8E4M3FNUZ, 11, 8},
    {DType::kFloat8E5M2, 12, 8},   {DType::kFloat8E5M2FNUZ, 13, 8},
};

TEST(DLPack, EveryElementTypeGoesOutAndComesBack) {
  EXPECT_EQ(std::size(kArrayTypes), 20u);  // As many as DType has.
  for (const ArrayType& type : kArrayTypes) {
    SCOPED_TRACE(to_string(type.dtype));
    const Tensor tensor = *Tensor::empty(Numbers{3, 2}, type.dtype);
    const auto array = tensor.to_dlpack();
    ASSERT_TRUE(array.has_value()) << array.error();
    const DLDataType dtype = (*array)->dl_tensor.dtype;
    EXPECT_EQ(dtype.code, type.code);
    EXPECT_EQ(dtype.bits, type.bits);
    EXPECT_EQ(dtype.lanes, 1);
    EXPECT_EQ(std::size_t{dtype.bits}, 8 * element_size(type.dtype));
    const auto back = Tensor::from_dlpack(*array);
    ASSERT_TRUE(back.has_value()) << back.error();
    EXPECT_EQ(back->dtype(), type.dtype);
    EXPECT_EQ(back->data(), tensor.data());
  }
}

TEST(DLPack, AnExportedArraySaysEverything) {
  const Tensor base = *Tensor::empty(Numbers{4, 8}, DType::kInt16);
  const Tensor view = *base.view(Numbers{3, 4}, Numbers{1, 8}, 2);
  Versioned* array = *view.to_dlpack();
  EXPECT_EQ(array->version.major, 1u);
  EXPECT_EQ(array->version.minor, 1u);
  EXPECT_EQ(array->flags, 0u);
  const DLTensor& said = array->dl_tensor;
  EXPECT_EQ(said.data, view.data());
  EXPECT_EQ(said.byte_offset, 0u);
  EXPECT_EQ(said.device.device_type, 1);
  EXPECT_EQ(said.device.device_id, 0);
  ASSERT_EQ(said.ndim, 2);
  EXPECT_THAT(std::span(said.shape, 2), ElementsAre(3, 4));
  EXPECT_THAT(std::span(said.strides, 2), ElementsAre(1, 8));
  array->deleter(array);
}

TEST(DLPack, AnExportedArrayOutlivesItsTensorAtAnyRank) {
  for (const std::size_t dims : {0u, 1u, 6u, 7u, 64u}) {
    Numbers sizes(dims, 1);
    if (dims > 0) sizes[0] = 3;
    DLManagedTensor* array = nullptr;
    {
      const Tensor tensor = *Tensor::empty(sizes, DType::kFloat32);
      std::iota(static_cast<float*>(tensor.data()),
                static_cast<float*>(tensor.data()) + tensor.numel(), 1.0f);
      array = *tensor.to_dlpack_unversioned();
      EXPECT_EQ(tensor.share_count(), 2u);
    }
    const DLTensor& said = array->dl_tensor;
    ASSERT_EQ(said.ndim, static_cast<int>(dims));
    EXPECT_THAT(std::span(said.shape, dims), ElementsAreArray(sizes));
    EXPECT_EQ(*static_cast<float*>(said.data), 1.0f);
    std::thread([array] { array->deleter(array); }).join();
  }
}

TEST(DLPack, WithoutElementsTheDataIsNull) {
  for (const Tensor& none :
       {Tensor(), *Tensor::empty(Numbers{2, 0}, DType::kInt8)}) {
    Versioned* array = *none.to_dlpack();
    EXPECT_EQ(array->dl_tensor.data, nullptr);
    const Tensor back = *Tensor::from_dlpack(array);
    EXPECT_EQ(back.numel(), 0);
    EXPECT_THAT(back.sizes(), ElementsAreArray(none.sizes()));
  }
}

}  // namespace
}  // namespace berth
