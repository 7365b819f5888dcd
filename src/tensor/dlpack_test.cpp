#include <gmock/gmock.h>

#include <array>
#include <optional>
#include <thread>
#include <vector>

#include "berth/tensor.h"
#include "tensor/dlpack_abi.h"

namespace berth {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using Numbers = std::vector<std::int64_t>;
using Versioned = DLManagedTensorVersioned;

constexpr std::int64_t kHuge = std::int64_t{1} << 40;

// An array of another library: [[0, 1, 2], [3, 4, 5]] in float32.
struct Foreign {
  std::array<float, 6> memory = {0, 1, 2, 3, 4, 5};
  std::array<std::int64_t, 70> shape = {2, 3};
  std::array<std::int64_t, 70> strides = {3, 1};
  int deleted = 0;
  Versioned array{};

  Foreign() {
    array.version = {1, 0};
    array.dl_tensor = {memory.data(), {1, 0},         2, {2, 32, 1},
                       shape.data(),  strides.data(), 0};
    array.manager_ctx = &deleted;
    array.deleter = [](Versioned* self) {
      ++*static_cast<int*>(self->manager_ctx);
    };
  }
  Foreign(const Foreign&) = delete;
  Foreign& operator=(const Foreign&) = delete;
};

std::vector<float> elements(const Tensor& tensor) {
  const Tensor copy = *tensor.clone();
  const auto* first = static_cast<const float*>(copy.data());
  return {first, first + copy.numel()};
}

TEST(DLPack, TakesAnArrayOverWithoutACopy) {
  Foreign foreign;
  {
    const auto tensor = Tensor::from_dlpack(&foreign.array);
    ASSERT_TRUE(tensor.has_value()) << tensor.error();
    EXPECT_EQ(tensor->data(), foreign.memory.data());
    EXPECT_EQ(tensor->dtype(), DType::kFloat32);
    EXPECT_THAT(tensor->sizes(), ElementsAre(2, 3));
    EXPECT_THAT(tensor->strides(), ElementsAre(3, 1));
    EXPECT_EQ(tensor->storage_size_bytes(), 24u);
    EXPECT_FALSE(tensor->owns_memory());
    EXPECT_EQ(foreign.deleted, 0);
  }
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(DLPack, TheDeleterIsCalledOnceWhenTheLastTensorIsGone) {
  Foreign foreign;
  {
    Tensor view;
    {
      const Tensor tensor = *Tensor::from_dlpack(&foreign.array);
      const Tensor copy = tensor;  // NOLINT: one more share
      view = *copy.view(Numbers{3}, Numbers{1}, 3);
    }
    EXPECT_EQ(foreign.deleted, 0);
    EXPECT_THAT(elements(view), ElementsAre(3, 4, 5));
  }
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(DLPack, TheDeleterMayBeCalledOnAnotherThread) {
  Foreign foreign;
  // What a thread wrote is there for the deleter, whichever thread calls it.
  std::vector<float> seen;
  struct Context {
    Foreign* foreign;
    std::vector<float>* seen;
  } context{&foreign, &seen};
  foreign.array.manager_ctx = &context;
  foreign.array.deleter = [](Versioned* self) {
    const auto* told = static_cast<Context*>(self->manager_ctx);
    ++told->foreign->deleted;
    const auto& memory = told->foreign->memory;
    told->seen->assign(memory.begin(), memory.end());
  };
  std::optional<Tensor> tensor = *Tensor::from_dlpack(&foreign.array);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 6; ++i) {
    threads.emplace_back([share = *tensor, i] {
      static_cast<float*>(share.data())[i] = 10.0f + static_cast<float>(i);
    });
  }
  tensor.reset();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(foreign.deleted, 1);
  EXPECT_THAT(seen, ElementsAre(10, 11, 12, 13, 14, 15));
}

TEST(DLPack, AnArrayWithoutADeleterIsNobodysToFree) {
  Foreign foreign;
  foreign.array.deleter = nullptr;
  EXPECT_TRUE(Tensor::from_dlpack(&foreign.array).has_value());
}

TEST(DLPack, TakesTheUnversionedStructToo) {
  Foreign foreign;
  DLManagedTensor old{
      foreign.array.dl_tensor, &foreign.deleted,
      [](DLManagedTensor* self) { ++*static_cast<int*>(self->manager_ctx); }};
  {
    const auto tensor = Tensor::from_dlpack(&old);
    ASSERT_TRUE(tensor.has_value()) << tensor.error();
    EXPECT_THAT(elements(*tensor), ElementsAre(0, 1, 2, 3, 4, 5));
  }
  EXPECT_EQ(foreign.deleted, 1);
  old.dl_tensor.device.device_type = 2;
  EXPECT_FALSE(Tensor::from_dlpack(&old).has_value());
  EXPECT_EQ(foreign.deleted, 1);
  EXPECT_FALSE(
      Tensor::from_dlpack(static_cast<DLManagedTensor*>(nullptr)).has_value());
}

// What is unusual and sound: the elements that are then seen.
struct Sound {
  const char* name;
  void (*change)(Foreign&);
  std::vector<float> sees;
};

const Sound kSound[] = {
    {"NullStridesAreRowMajor",
     [](Foreign& f) { f.array.dl_tensor.strides = nullptr; },
     {0, 1, 2, 3, 4, 5}},
    {"Transposed",
     [](Foreign& f) {
       f.shape = {3, 2};
       f.strides = {1, 3};
     },
     {0, 3, 1, 4, 2, 5}},
    {"RepeatedByStrideZero",
     [](Foreign& f) {
       f.shape = {2, 2};
       f.strides = {0, 1};
     },
     {0, 1, 0, 1}},
    {"ByteOffset",
     [](Foreign& f) {
       f.shape = {1, 2};
       f.array.dl_tensor.byte_offset = 16;
     },
     {4, 5}},
    {"Scalar",
     [](Foreign& f) {
       f.array.dl_tensor.ndim = 0;
       f.array.dl_tensor.shape = nullptr;
       f.array.dl_tensor.strides = nullptr;
     },
     {0}},
    {"NoElements",
     [](Foreign& f) {
       f.shape = {0, 3};
       f.array.dl_tensor.data = nullptr;
     },
     {}},
    {"NoElementsAndAnOffset",
     [](Foreign& f) {
       f.shape = {kHuge, 0};
       f.array.dl_tensor.data = nullptr;
       f.array.dl_tensor.byte_offset = ~std::uint64_t{0};
     },
     {}},
    {"NegativeStrideOfOneElement",
     [](Foreign& f) {
       f.shape = {1, 3};
       f.strides = {-3, 1};
     },
     {0, 1, 2}},
    {"PinnedForCuda",
     [](Foreign& f) {
       f.array.dl_tensor.device = {3, 1};
     },
     {0, 1, 2, 3, 4, 5}},
    {"PinnedForRocm",
     [](Foreign& f) {
       f.array.dl_tensor.device = {11, 0};
     },
     {0, 1, 2, 3, 4, 5}},
    {"NewerMinorVersion",
     [](Foreign& f) {
       f.array.version = {1, 99};
     },
     {0, 1, 2, 3, 4, 5}},
    {"ReadOnlyAndOtherFlags",
     [](Foreign& f) { f.array.flags = ~std::uint64_t{0}; },
     {0, 1, 2, 3, 4, 5}},
};

class DLPackTakes : public testing::TestWithParam<Sound> {};

TEST_P(DLPackTakes, WhatIsUnusualAndSound) {
  Foreign foreign;
  GetParam().change(foreign);
  {
    const auto tensor = Tensor::from_dlpack(&foreign.array);
    ASSERT_TRUE(tensor.has_value()) << tensor.error();
    EXPECT_THAT(elements(*tensor), ElementsAreArray(GetParam().sees));
  }
  EXPECT_EQ(foreign.deleted, 1);
}

INSTANTIATE_TEST_SUITE_P(Each, DLPackTakes, testing::ValuesIn(kSound),
                         [](const auto& param) { return param.param.name; });

struct Spoiled {
  const char* name;
  void (*spoil)(Foreign&);
  Code code;
  const char* says;
};

const Spoiled kSpoiled[] = {
    {"MajorVersionTwo",
     [](Foreign& f) {
       f.array.version = {2, 0};
     },
     Code::kIncompatible, "is of DLPack 2.0, expected version 1"},
    {"MajorVersionZero",
     [](Foreign& f) {
       f.array.version = {0, 8};
     },
     Code::kIncompatible, "is of DLPack 0.8"},
    {"OnCuda",
     [](Foreign& f) {
       f.array.dl_tensor.device = {2, 0};
     },
     Code::kUnsupported, "device type 2"},
    {"Managed",
     [](Foreign& f) {
       f.array.dl_tensor.device = {13, 0};
     },
     Code::kUnsupported, "device type 13"},
    {"NoDevice",
     [](Foreign& f) {
       f.array.dl_tensor.device = {-1, 0};
     },
     Code::kUnsupported, "device type -1"},
    {"Vectors",
     [](Foreign& f) {
       f.array.dl_tensor.dtype = {2, 32, 4};
     },
     Code::kUnsupported, "type 2 with 32 bits and 4 lanes"},
    {"NoLanes",
     [](Foreign& f) {
       f.array.dl_tensor.dtype = {2, 32, 0};
     },
     Code::kUnsupported, "0 lanes"},
    {"OddBits",
     [](Foreign& f) {
       f.array.dl_tensor.dtype = {2, 80, 1};
     },
     Code::kUnsupported, "type 2 with 80 bits"},
    {"BoolOfOneBit",
     [](Foreign& f) {
       f.array.dl_tensor.dtype = {6, 1, 1};
     },
     Code::kUnsupported, "type 6 with 1 bits"},
    {"OpaqueHandles",
     [](Foreign& f) {
       f.array.dl_tensor.dtype = {3, 64, 1};
     },
     Code::kUnsupported, "type 3"},
    {"FourBitFloats",
     [](Foreign& f) {
       f.array.dl_tensor.dtype = {17, 4, 1};
     },
     Code::kUnsupported, "type 17"},
    {"NegativeRank", [](Foreign& f) { f.array.dl_tensor.ndim = -1; },
     Code::kInvalidArgument, "has -1 dimensions"},
    {"RankBeyondAllUse", [](Foreign& f) { f.array.dl_tensor.ndim = 65; },
     Code::kUnsupported, "65 dimensions"},
    {"NoSizes", [](Foreign& f) { f.array.dl_tensor.shape = nullptr; },
     Code::kInvalidArgument, "null for their sizes"},
    {"NegativeSize", [](Foreign& f) { f.shape[1] = -3; },
     Code::kInvalidArgument, "sizes [2, -3]"},
    {"NegativeStride", [](Foreign& f) { f.strides[1] = -1; },
     Code::kInvalidArgument, "strides [3, -1]"},
    {"ElementsDoNotFit",
     [](Foreign& f) {
       f.shape = {kHuge, kHuge};
     },
     Code::kInvalidArgument, "more elements than 64 bits"},
    {"ElementsDoNotFitRowMajor",
     [](Foreign& f) {
       f.shape = {kHuge, kHuge};
       f.array.dl_tensor.strides = nullptr;
     },
     Code::kInvalidArgument, "more elements than 64 bits"},
    {"StridesLeadTooFar",
     [](Foreign& f) { f.strides[0] = std::int64_t{1} << 62; },
     Code::kInvalidArgument, "more memory than there are addresses"},
    {"BytesPassTheLastAddress",
     [](Foreign& f) { f.array.dl_tensor.byte_offset = ~std::uint64_t{0} - 8; },
     Code::kInvalidArgument, "from byte 18446744073709551607 on"},
    {"NullData", [](Foreign& f) { f.array.dl_tensor.data = nullptr; },
     Code::kInvalidArgument, "null data for 6 elements"},
    {"NullDataAndAnOffset",
     [](Foreign& f) {
       f.array.dl_tensor.data = nullptr;
       f.array.dl_tensor.byte_offset = 4096;
     },
     Code::kInvalidArgument, "null data for 6 elements"},
};

class DLPackRefuses : public testing::TestWithParam<Spoiled> {};

TEST_P(DLPackRefuses, WithCodeAndReasonAndLeavesTheArray) {
  Foreign foreign;
  GetParam().spoil(foreign);
  const auto tensor = Tensor::from_dlpack(&foreign.array);
  ASSERT_FALSE(tensor.has_value());
  EXPECT_EQ(tensor.error().code(), GetParam().code);
  EXPECT_THAT(tensor.error().to_string(), HasSubstr(GetParam().says));
  EXPECT_EQ(foreign.deleted, 0);
}

INSTANTIATE_TEST_SUITE_P(Each, DLPackRefuses, testing::ValuesIn(kSpoiled),
                         [](const auto& param) { return param.param.name; });

TEST(DLPack, RefusesNull) {
  const auto none = Tensor::from_dlpack(static_cast<Versioned*>(nullptr));
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code(), Code::kInvalidArgument);
}

TEST(DLPack, ArraysOfArraysKeepTheFirstOneAlive) {
  Foreign foreign;
  Tensor last;
  {
    Tensor next = *Tensor::from_dlpack(&foreign.array);
    for (int i = 0; i < 5; ++i) next = *Tensor::from_dlpack(*next.to_dlpack());
    last = std::move(next);
  }
  EXPECT_EQ(foreign.deleted, 0);
  EXPECT_THAT(elements(last), ElementsAre(0, 1, 2, 3, 4, 5));
  last = Tensor();
  EXPECT_EQ(foreign.deleted, 1);
}

}  // namespace
}  // namespace berth
