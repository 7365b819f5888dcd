#include "tensor/layout.h"

#include <gmock/gmock.h>

#include <array>
#include <limits>
#include <vector>

namespace berth::tensor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Numbers = std::vector<std::int64_t>;

constexpr std::int64_t kHuge = std::int64_t{1} << 40;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(Layout, MeasuresWhatAViewCovers) {
  const auto whole = measure(Numbers{4, 8}, Numbers{8, 1}, 0);
  ASSERT_TRUE(whole.has_value());
  EXPECT_EQ(whole->numel, 32);
  EXPECT_EQ(whole->end, 32);
  const auto columns = measure(Numbers{4, 3}, Numbers{8, 1}, 2);
  ASSERT_TRUE(columns.has_value());
  EXPECT_EQ(columns->numel, 12);
  EXPECT_EQ(columns->end, 29);
  const auto scalar = measure({}, {}, 5);
  ASSERT_TRUE(scalar.has_value());
  EXPECT_EQ(scalar->numel, 1);
  EXPECT_EQ(scalar->end, 6);
  const auto repeated = measure(Numbers{1000}, Numbers{0}, 0);
  ASSERT_TRUE(repeated.has_value());
  EXPECT_EQ(repeated->end, 1);
}

TEST(Layout, NothingIsCoveredByAnEmptyView) {
  for (const Numbers& sizes :
       {Numbers{0}, Numbers{kHuge, 0, kHuge}, Numbers{0, kMost, kMost}}) {
    const auto empty = measure(sizes, Numbers(sizes.size(), kMost), kMost);
    ASSERT_TRUE(empty.has_value()) << to_text(sizes);
    EXPECT_EQ(empty->numel, 0);
    EXPECT_EQ(empty->end, 0);
  }
}

struct Spoiled {
  const char* name;
  Numbers sizes;
  Numbers strides;
  std::int64_t offset;
  Code code;
  const char* says;
};

class LayoutRejects : public testing::TestWithParam<Spoiled> {};

TEST_P(LayoutRejects, WithCodeAndReason) {
  const Spoiled& p = GetParam();
  const auto result = measure(p.sizes, p.strides, p.offset);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code(), p.code);
  EXPECT_THAT(result.error().to_string(), HasSubstr(p.says));
}

const Spoiled kSpoiled[] = {
    {"NegativeSize", {2, -1}, {1, 1}, 0, Code::kInvalidArgument, "[2, -1]"},
    {"NegativeStride", {2}, {-1}, 0, Code::kInvalidArgument, "[-1]"},
    {"NegativeOffset", {2}, {1}, -7, Code::kInvalidArgument, "offset -7"},
    {"FewerStrides", {2, 3}, {1}, 0, Code::kInvalidArgument, "as many"},
    {"NumelWraps",
     {kHuge, kHuge},
     {0, 0},
     0,
     Code::kInvalidArgument,
     "than 64 bits"},
    {"NumelWrapsToSmall",
     {std::int64_t{1} << 32, std::int64_t{1} << 32},
     {0, 0},
     0,
     Code::kInvalidArgument,
     "than 64 bits"},
    {"ExtentWraps",
     {kHuge},
     {kHuge},
     0,
     Code::kInvalidArgument,
     "than 64 bits"},
    {"OffsetWraps", {2}, {1}, kMost, Code::kInvalidArgument, "than 64 bits"},
    {"OffsetAtTheEdge", {1}, {1}, kMost, Code::kInvalidArgument, "64 bits"},
    {"TooManyDimensions", Numbers(65, 1), Numbers(65, 1), 0, Code::kUnsupported,
     "65 dimensions"},
};
INSTANTIATE_TEST_SUITE_P(Table, LayoutRejects, testing::ValuesIn(kSpoiled),
                         [](const auto& p) { return p.param.name; });

TEST(Layout, CheckedNumelRejectsWhatMeasureRejects) {
  EXPECT_EQ(checked_numel(Numbers{2, 3, 4}).value_or(-1), 24);
  EXPECT_FALSE(checked_numel(Numbers{kHuge, kHuge}).has_value());
  EXPECT_FALSE(checked_numel(Numbers(65, 1)).has_value());
}

TEST(Layout, RowMajorStrides) {
  std::array<std::int64_t, 3> out{};
  contiguous_strides(Numbers{2, 3, 4}, out.data());
  EXPECT_THAT(out, ElementsAre(12, 4, 1));
  contiguous_strides(Numbers{2, 0, 4}, out.data());
  EXPECT_THAT(out, ElementsAre(4, 4, 1));
  contiguous_strides(Numbers{0, kMost, kMost}, out.data());
  EXPECT_THAT(out, ElementsAre(kMost, kMost, 1));
}

TEST(Layout, DenseStridesKeepTheOrderInMemory) {
  std::array<std::int64_t, 4> out{};
  const auto dense = [&](const Numbers& sizes, const Numbers& strides) {
    dense_strides(sizes, strides, out.data());
    return Numbers(out.begin(), out.begin() + sizes.size());
  };
  EXPECT_THAT(dense({2, 3, 4, 5}, {60, 20, 5, 1}), ElementsAre(60, 20, 5, 1));
  // Channels last, and the same with gaps.
  EXPECT_THAT(dense({2, 3, 4, 5}, {60, 1, 15, 3}), ElementsAre(60, 1, 15, 3));
  EXPECT_THAT(dense({2, 3, 4, 5}, {900, 2, 90, 9}), ElementsAre(60, 1, 15, 3));
  // Transposed, and a slice of it.
  EXPECT_THAT(dense({3, 2}, {1, 3}), ElementsAre(1, 3));
  EXPECT_THAT(dense({3, 2}, {1, 100}), ElementsAre(1, 3));
  // An expanded dimension becomes a real one.
  EXPECT_THAT(dense({4, 3}, {0, 1}), ElementsAre(3, 1));
}

TEST(Layout, ContiguousMeansRowMajorWithoutGaps) {
  EXPECT_TRUE(is_contiguous({}, {}));
  EXPECT_TRUE(is_contiguous(Numbers{2, 3}, Numbers{3, 1}));
  EXPECT_TRUE(is_contiguous(Numbers{1, 3}, Numbers{77, 1}));
  EXPECT_TRUE(is_contiguous(Numbers{0, kMost, kMost}, Numbers{7, 7, 7}));
  EXPECT_FALSE(is_contiguous(Numbers{2, 3}, Numbers{1, 2}));
  EXPECT_FALSE(is_contiguous(Numbers{2, 3}, Numbers{4, 1}));
  EXPECT_FALSE(is_contiguous(Numbers{2}, Numbers{0}));
}

TEST(Layout, BroadcastsAsTorchDoes) {
  std::array<std::int64_t, 2> out{};
  ASSERT_TRUE(broadcast_strides({}, {}, Numbers{2, 3}, out.data()));
  EXPECT_THAT(out, ElementsAre(0, 0));
  ASSERT_TRUE(
      broadcast_strides(Numbers{3}, Numbers{1}, Numbers{2, 3}, out.data()));
  EXPECT_THAT(out, ElementsAre(0, 1));
  ASSERT_TRUE(broadcast_strides(Numbers{2, 1}, Numbers{5, 1}, Numbers{2, 3},
                                out.data()));
  EXPECT_THAT(out, ElementsAre(5, 0));
  EXPECT_FALSE(
      broadcast_strides(Numbers{2}, Numbers{1}, Numbers{2, 3}, out.data()));
  EXPECT_FALSE(broadcast_strides(Numbers{1, 2, 3}, Numbers{6, 3, 1},
                                 Numbers{2, 3}, out.data()));
}

}  // namespace
}  // namespace berth::tensor
