#include "tensor/copy.h"

#include <gmock/gmock.h>

#include <array>
#include <numeric>
#include <random>
#include <vector>

namespace berth::tensor {
namespace {

using Numbers = std::vector<std::int64_t>;

// Strides for `sizes` whose dimensions lie in memory in a random order, with
// gaps of up to one element; `span` is how many elements they reach over.
Numbers random_strides(const Numbers& sizes, std::mt19937& random,
                       std::size_t& span) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), random);
  Numbers strides(sizes.size());
  std::int64_t stride = 1;
  span = 1;
  for (const std::size_t dim : order) {
    strides[dim] = stride + static_cast<std::int64_t>(random() % 2);
    span += static_cast<std::size_t>(strides[dim] * sizes[dim]);
    stride = strides[dim] * std::max<std::int64_t>(sizes[dim], 1);
  }
  return strides;
}

template <typename Visit>
void for_each_index(const Numbers& sizes, const Visit& visit) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  for (std::int64_t flat = 0; flat < count; ++flat) {
    Numbers index(sizes.size());
    std::int64_t rest = flat;
    for (std::size_t i = sizes.size(); i > 0; --i) {
      index[i - 1] = rest % sizes[i - 1];
      rest /= sizes[i - 1];
    }
    visit(index, flat);
  }
}

std::size_t at(const Numbers& index, const Numbers& strides) {
  return static_cast<std::size_t>(std::inner_product(
      index.begin(), index.end(), strides.begin(), std::int64_t{0}));
}

template <typename T>
class Copy : public testing::Test {};
using Elements = testing::Types<std::uint8_t, std::uint16_t, std::uint32_t,
                                std::uint64_t, std::array<std::uint64_t, 2>>;
TYPED_TEST_SUITE(Copy, Elements);

template <typename T>
T value_of(std::int64_t i) {
  if constexpr (std::is_same_v<T, std::array<std::uint64_t, 2>>)
    return {static_cast<std::uint64_t>(i), ~static_cast<std::uint64_t>(i)};
  else
    return static_cast<T>(i + 1);
}

TYPED_TEST(Copy, MovesEveryElementAndNothingElse) {
  std::mt19937 random(2024);
  for (int round = 0; round < 300; ++round) {
    Numbers sizes(random() % 5);
    for (std::int64_t& size : sizes)
      size = static_cast<std::int64_t>(random() % 5);
    std::size_t source_span = 0;
    std::size_t target_span = 0;
    const Numbers from = random_strides(sizes, random, source_span);
    const Numbers to = random_strides(sizes, random, target_span);
    std::vector<TypeParam> source(source_span);
    std::vector<TypeParam> target(target_span);
    std::vector<TypeParam> expected(target_span);
    for_each_index(sizes, [&](const Numbers& index, std::int64_t flat) {
      source[at(index, from)] = value_of<TypeParam>(flat);
      expected[at(index, to)] = value_of<TypeParam>(flat);
    });
    copy_elements(sizes, sizeof(TypeParam),
                  reinterpret_cast<const std::byte*>(source.data()), from,
                  reinterpret_cast<std::byte*>(target.data()), to);
    ASSERT_EQ(target, expected)
        << to_text(sizes) << to_text(from) << to_text(to);
  }
}

TEST(CopyBroadcast, AStandingSourceIsRepeated) {
  const std::array<std::int32_t, 3> source = {1, 2, 3};
  std::array<std::int32_t, 6> target{};
  copy_elements(Numbers{2, 3}, 4,
                reinterpret_cast<const std::byte*>(source.data()),
                Numbers{0, 1}, reinterpret_cast<std::byte*>(target.data()),
                Numbers{3, 1});
  EXPECT_THAT(target, testing::ElementsAre(1, 2, 3, 1, 2, 3));
}

TEST(Zero, ClearsTheElementsAndLeavesTheGaps) {
  std::array<std::int32_t, 6> target = {1, 2, 3, 4, 5, 6};
  zero_elements(Numbers{2, 2}, 4, reinterpret_cast<std::byte*>(target.data()),
                Numbers{3, 1});
  EXPECT_THAT(target, testing::ElementsAre(0, 0, 3, 0, 0, 6));
  zero_elements(Numbers{6}, 4, reinterpret_cast<std::byte*>(target.data()),
                Numbers{1});
  EXPECT_THAT(target, testing::Each(0));
  zero_elements(Numbers{0, 4}, 4, nullptr, Numbers{4, 1});
}

}  // namespace
}  // namespace berth::tensor
