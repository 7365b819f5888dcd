#include "berth/tensor.h"

#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "tensor/allocator.h"

namespace berth {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Numbers = std::vector<std::int64_t>;

constexpr std::int64_t kHuge = std::int64_t{1} << 40;

float* floats(const Tensor& tensor) {
  return static_cast<float*>(tensor.data());
}

// 0, 1, 2, ... in row-major order.
Tensor counting(const Numbers& sizes) {
  Tensor tensor = *Tensor::empty(sizes, DType::kFloat32);
  std::iota(floats(tensor), floats(tensor) + tensor.numel(), 0.0f);
  return tensor;
}

TEST(DType, KnowsSizesAndNamesAndNothingElse) {
  EXPECT_EQ(element_size(DType::kBool), 1u);
  EXPECT_EQ(element_size(DType::kBFloat16), 2u);
  EXPECT_EQ(element_size(DType::kComplex128), 16u);
  EXPECT_STREQ(to_string(DType::kFloat8E4M3FN), "float8_e4m3fn");
  int known = 0;
  for (int code = -2; code < 100; ++code) {
    const auto dtype = static_cast<DType>(code);
    const bool named = std::strcmp(to_string(dtype), "unknown") != 0;
    EXPECT_EQ(named, element_size(dtype) != 0) << code;
    known += named ? 1 : 0;
  }
  EXPECT_EQ(known, 20);
}

TEST(Tensor, IsEmptyWithoutStorage) {
  const Tensor none;
  EXPECT_EQ(none.dim(), 1);
  EXPECT_EQ(none.numel(), 0);
  EXPECT_EQ(none.data(), nullptr);
  EXPECT_THAT(none.sizes(), ElementsAre(0));
  EXPECT_THAT(none.strides(), ElementsAre(1));
  EXPECT_EQ(none.storage_size_bytes(), 0u);
  EXPECT_FALSE(none.shares_storage_with(none));
  EXPECT_EQ(none.view(Numbers{0}, Numbers{1}, 0).error().code(),
            Code::kInvalidArgument);
}

TEST(Tensor, NewMemoryIsRowMajorAlignedAndExact) {
  const auto tensor = Tensor::empty(Numbers{2, 3, 5}, DType::kInt16);
  ASSERT_TRUE(tensor.has_value());
  EXPECT_THAT(tensor->strides(), ElementsAre(15, 5, 1));
  EXPECT_EQ(tensor->numel(), 30);
  EXPECT_EQ(tensor->size_bytes(), 60u);
  EXPECT_EQ(tensor->storage_size_bytes(), 60u);
  EXPECT_TRUE(tensor->is_contiguous());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor->data()) % 64, 0u);
}

TEST(Tensor, StridedMemoryCoversTheLastElementAndNoMore) {
  const auto tensor =
      Tensor::empty_strided(Numbers{3, 2}, Numbers{1, 4}, DType::kFloat64);
  ASSERT_TRUE(tensor.has_value());
  EXPECT_EQ(tensor->storage_size_bytes(), 7 * 8u);
  EXPECT_FALSE(tensor->is_contiguous());
}

TEST(Tensor, WritesThroughAViewAreSeenInTheBase) {
  const Tensor base = counting({4, 8});
  // Columns 2 to 4.
  const auto view = base.view(Numbers{4, 3}, Numbers{8, 1}, 2);
  ASSERT_TRUE(view.has_value());
  EXPECT_TRUE(view->shares_storage_with(base));
  EXPECT_EQ(floats(*view)[0], 2);
  floats(*view)[8 + 1] = -1;
  EXPECT_EQ(floats(base)[8 + 3], -1);
  // A view of the view: the offset still counts from the storage.
  const auto inner = view->view(Numbers{2}, Numbers{8}, 3);
  ASSERT_TRUE(inner.has_value());
  EXPECT_EQ(floats(*inner)[0], 3);
  EXPECT_EQ(floats(*inner)[8], -1);
  EXPECT_EQ(inner->storage_offset(), 3);
}

TEST(Tensor, AViewOutlivesItsBase) {
  Tensor view;
  {
    const Tensor base = counting({10});
    view = *base.view(Numbers{2}, Numbers{1}, 8);
  }
  EXPECT_EQ(floats(view)[1], 9);
  Tensor base = counting({4});
  { const Tensor gone = *base.view(Numbers{}, Numbers{}, 3); }
  EXPECT_EQ(floats(base)[3], 3);
}

TEST(Tensor, AScalarAndAnEmptyViewAtTheVeryEndAreFine) {
  const Tensor base = counting({4, 8});
  const auto last = base.view({}, {}, 31);
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(last->dim(), 0);
  EXPECT_EQ(*floats(*last), 31);
  EXPECT_TRUE(base.view(Numbers{0}, Numbers{1}, 32).has_value());
  EXPECT_TRUE(base.view(Numbers{0, 8}, Numbers{8, 1}, 1000).has_value());
}

TEST(Tensor, AViewThatLeavesItsStorageIsRefused) {
  const Tensor base = counting({4, 8});
  const auto past = base.view(Numbers{4, 8}, Numbers{8, 1}, 1);
  ASSERT_FALSE(past.has_value());
  EXPECT_EQ(past.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(past.error().to_string(),
              HasSubstr("need 132 bytes, storage has 128"));
  EXPECT_FALSE(base.view({}, {}, 32).has_value());
  EXPECT_FALSE(base.view(Numbers{2}, Numbers{kHuge}, 0).has_value());
}

TEST(Tensor, HostileSizesAreErrorsNotAllocations) {
  EXPECT_EQ(Tensor::empty(Numbers{-1}, DType::kInt8).error().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(Tensor::empty(Numbers{kHuge, kHuge}, DType::kInt8).error().code(),
            Code::kInvalidArgument);
  // Elements fit in 64 bits, their bytes do not.
  EXPECT_EQ(Tensor::empty(Numbers{std::int64_t{1} << 62}, DType::kComplex128)
                .error()
                .code(),
            Code::kInvalidArgument);
  EXPECT_EQ(Tensor::empty(Numbers{kHuge, 1 << 20}, DType::kInt8).error().code(),
            Code::kOutOfMemory);
  const auto none = Tensor::empty(Numbers{kHuge, 0, kHuge}, DType::kInt8);
  ASSERT_TRUE(none.has_value());
  EXPECT_EQ(none->numel(), 0);
  const auto unknown = Tensor::empty(Numbers{1}, static_cast<DType>(99));
  ASSERT_FALSE(unknown.has_value());
  EXPECT_THAT(unknown.error().to_string(), HasSubstr("dtype code 99"));
}

TEST(Tensor, BorrowsTheCallersMemory) {
  std::array<float, 6> memory = {0, 1, 2, 3, 4, 5};
  const auto tensor = Tensor::borrow(memory.data(), sizeof(memory),
                                     Numbers{2, 3}, {}, DType::kFloat32);
  ASSERT_TRUE(tensor.has_value());
  EXPECT_EQ(tensor->data(), memory.data());
  EXPECT_THAT(tensor->strides(), ElementsAre(3, 1));
  const auto short_by_one = Tensor::borrow(memory.data(), sizeof(memory) - 1,
                                           Numbers{2, 3}, {}, DType::kFloat32);
  ASSERT_FALSE(short_by_one.has_value());
  EXPECT_THAT(short_by_one.error().to_string(),
              HasSubstr("need 24 bytes, storage has 23"));
  EXPECT_TRUE(
      Tensor::borrow(nullptr, 0, Numbers{0}, {}, DType::kFloat32).has_value());
  const auto null =
      Tensor::borrow(nullptr, 24, Numbers{6}, {}, DType::kFloat32);
  ASSERT_FALSE(null.has_value());
  EXPECT_THAT(null.error().to_string(), HasSubstr("null data"));
}

TEST(Tensor, CopiesAndMovesKeepEverythingAtAnyRank) {
  for (const std::size_t dims : {0u, 1u, 6u, 7u, 12u}) {
    Numbers sizes(dims, 1);
    if (dims > 0) sizes[0] = 3;
    Tensor made = counting(sizes);
    Tensor copy = made;
    EXPECT_TRUE(copy.shares_storage_with(made));
    EXPECT_THAT(copy.sizes(), testing::ElementsAreArray(sizes));
    Tensor moved = std::move(made);
    EXPECT_EQ(made.numel(), 0);  // NOLINT: a moved-from Tensor is empty
    EXPECT_EQ(made.dim(), 1);
    EXPECT_EQ(made.data(), nullptr);
    EXPECT_THAT(moved.strides(), testing::ElementsAreArray(copy.strides()));
    moved = copy;
    Tensor& self = moved;
    moved = self;
    EXPECT_EQ(moved.data(), copy.data());
    copy = Tensor();
    EXPECT_EQ(floats(moved)[0], 0);
  }
}

TEST(Tensor, SharesOfTheStorageAreCounted) {
  EXPECT_EQ(Tensor().share_count(), 0u);
  const Tensor base = counting({4});
  EXPECT_EQ(base.share_count(), 1u);
  {
    const Tensor copy = base;
    const Tensor view = *base.view(Numbers{2}, Numbers{1}, 1);
    EXPECT_EQ(base.share_count(), 3u);
    EXPECT_EQ(view.share_count(), 3u);
  }
  EXPECT_EQ(base.share_count(), 1u);
  EXPECT_EQ(base.clone()->share_count(), 1u);
}

TEST(Tensor, CloneIsARowMajorCopy) {
  const Tensor base = counting({2, 3});
  const Tensor turned = *base.view(Numbers{3, 2}, Numbers{1, 3}, 0);
  const auto copy = turned.clone();
  ASSERT_TRUE(copy.has_value());
  EXPECT_FALSE(copy->shares_storage_with(base));
  EXPECT_TRUE(copy->is_contiguous());
  EXPECT_THAT(std::span(floats(*copy), 6), ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST(Tensor, CopyFromRefusesOtherTypesAndSizes) {
  Tensor target = counting({2, 3});
  EXPECT_TRUE(target.copy_from(counting({2, 3})).has_value());
  const Status sizes = target.copy_from(counting({3, 2}));
  ASSERT_FALSE(sizes.has_value());
  EXPECT_THAT(sizes.error().to_string(), HasSubstr("[2, 3], found [3, 2]"));
  const Status dtype =
      target.copy_from(*Tensor::empty(Numbers{2, 3}, DType::kInt32));
  ASSERT_FALSE(dtype.has_value());
  EXPECT_THAT(dtype.error().to_string(), HasSubstr("float32, found int32"));
}

TEST(Tensor, RepeatedWorkAllocatesNothing) {
  const auto run = [] {
    const Tensor base = counting({16, 16});
    const auto view = base.view(Numbers{4, 4}, Numbers{16, 1}, 3);
    EXPECT_TRUE(view->clone().has_value());
  };
  run();
  const std::uint64_t before = tensor::system_allocation_count();
  for (int i = 0; i < 50; ++i) run();
  EXPECT_EQ(tensor::system_allocation_count(), before);
}

}  // namespace
}  // namespace berth
