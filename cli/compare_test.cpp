#include "cli/compare.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <vector>

namespace berth::cli {
namespace {

using testing::HasSubstr;

template <typename T>
Tensor tensor(std::vector<T>& values, DType dtype) {
  const std::int64_t sizes[] = {static_cast<std::int64_t>(values.size())};
  return *Tensor::borrow(values.data(), values.size() * sizeof(T), sizes, {},
                         dtype);
}

Difference difference(std::vector<float> found, std::vector<float> expected,
                      Tolerance tolerance = {}) {
  return *compare(tensor(found, DType::kFloat32),
                  tensor(expected, DType::kFloat32), tolerance);
}

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Compare, EqualTensorsDoNotDiffer) {
  EXPECT_EQ(difference({1, 2}, {1, 2}).count, 0);
  EXPECT_EQ(difference({kNan, kInf, -kInf}, {kNan, kInf, -kInf}).count, 0);
  EXPECT_EQ(difference({0.0f}, {-0.0f}).count, 0);
}

TEST(Compare, CountsWhatLiesOutside) {
  const Difference d = difference({1, 2, 3.5f}, {1, 2.5f, 3}, {0, 0.25});
  EXPECT_EQ(d.count, 2);
  EXPECT_EQ(d.first_index, 1);
  EXPECT_DOUBLE_EQ(d.largest, 0.5);
}

TEST(Compare, TheToleranceGrowsWithTheExpectedElement) {
  EXPECT_EQ(difference({1001}, {1000}, {0.01, 0}).count, 0);
  EXPECT_EQ(difference({1.5f}, {1}, {0.01, 0}).count, 1);
}

TEST(Compare, NanAndInfinityAreNeverInside) {
  EXPECT_EQ(difference({kNan}, {1}, {1, 1}).count, 1);
  EXPECT_EQ(difference({1}, {kInf}, {1, 1}).count, 1);
  EXPECT_EQ(difference({-kInf}, {kInf}, {1, 1}).count, 1);
}

TEST(Compare, LargeIntegersAreComparedExactly) {
  std::vector<std::int64_t> a = {(1ll << 53) + 1};
  std::vector<std::int64_t> b = a;
  EXPECT_EQ(
      compare(tensor(a, DType::kInt64), tensor(b, DType::kInt64), {})->count,
      0);
  b[0] = 0;
  EXPECT_EQ(
      compare(tensor(a, DType::kInt64), tensor(b, DType::kInt64), {})->count,
      1);
}

TEST(Compare, HalfTypesAreReadAsWhatTheyMean) {
  std::vector<std::uint16_t> half = {0x3c00, 0x0001, 0x7c00, 0xc000};
  std::vector<std::uint16_t> other = {0x3c01, 0x0001, 0x7c00, 0xc000};
  EXPECT_NEAR(
      compare(tensor(half, DType::kFloat16), tensor(other, DType::kFloat16), {})
          ->largest,
      0.0009765625, 1e-12);
  EXPECT_NEAR(compare(tensor(half, DType::kBFloat16),
                      tensor(other, DType::kBFloat16), {})
                  ->largest,
              std::ldexp(1.0, -14), 1e-7);
}

TEST(Compare, OtherTypesOrSizesAreAnError) {
  std::vector<float> a = {1, 2};
  std::vector<float> b = {1, 2, 3};
  const auto sizes =
      compare(tensor(a, DType::kFloat32), tensor(b, DType::kFloat32), {});
  ASSERT_FALSE(sizes.has_value());
  EXPECT_THAT(sizes.error().to_string(),
              HasSubstr("expected float32 [3], found float32 [2]"));
  EXPECT_FALSE(compare(tensor(a, DType::kFloat32), tensor(a, DType::kInt32), {})
                   .has_value());
}

}  // namespace
}  // namespace berth::cli
