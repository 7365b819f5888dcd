#include "model/input_rule.h"

#include <gmock/gmock.h>

#include <cstring>
#include <limits>

namespace berth::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kVaries = TensorSpec::kVaries;

TensorSpec spec(std::vector<SizeRange> sizes,
                std::vector<std::int64_t> strides) {
  TensorSpec spec{"arg0_1", "[0]", true, DType::kFloat32, {}, {}};
  spec.sizes = std::move(sizes);
  spec.strides = std::move(strides);
  return spec;
}

// Numbered in row-major order, with `strides`.
Tensor numbers(const std::vector<std::int64_t>& sizes,
               const std::vector<std::int64_t>& strides) {
  Tensor tensor = *Tensor::empty_strided(sizes, strides, DType::kFloat32);
  Tensor dense = *Tensor::empty(sizes, DType::kFloat32);
  for (std::int64_t i = 0; i < dense.numel(); ++i)
    static_cast<float*>(dense.data())[i] = static_cast<float>(i);
  EXPECT_TRUE(tensor.copy_from(dense));
  return tensor;
}

void expect_same_values(const Tensor& a, const Tensor& b) {
  const Tensor x = *a.clone();
  const Tensor y = *b.clone();
  ASSERT_EQ(x.size_bytes(), y.size_bytes());
  EXPECT_EQ(std::memcmp(x.data(), y.data(), x.size_bytes()), 0);
}

TEST(InputRule, TakesWhatWasCompiledAsItIs) {
  const InputRule rule(spec({{2, 64}, {8, 8}}, {8, 1}));
  EXPECT_TRUE(rule.fits(numbers({2, 8}, {8, 1})));
  EXPECT_TRUE(rule.fits(numbers({64, 8}, {8, 1})));
}

TEST(InputRule, RefusesWithWhatWasExpectedAndWhatWasFound) {
  const InputRule rule(spec({{2, 64}, {8, 8}}, {8, 1}));
  const std::pair<Tensor, const char*> kWrong[] = {
      {Tensor(), "expected a tensor, found none"},
      {*Tensor::empty(std::vector<std::int64_t>{2, 8}, DType::kInt32),
       "expected 'arg0_1' [0]: float32 [2..64, 8], found int32 [2, 8]"},
      {numbers({8}, {1}), "found float32 [8]"},
      {numbers({2, 8, 1}, {8, 1, 1}), "found float32 [2, 8, 1]"},
      {numbers({1, 8}, {8, 1}), "found float32 [1, 8]"},
      {numbers({65, 8}, {8, 1}), "found float32 [65, 8]"},
      {numbers({2, 9}, {9, 1}), "found float32 [2, 9]"},
  };
  for (const auto& [input, says] : kWrong) {
    EXPECT_FALSE(rule.fits(input));
    const auto fitted = rule.fit(input);
    ASSERT_FALSE(fitted) << says;
    EXPECT_EQ(fitted.error().code(), Code::kInvalidArgument);
    EXPECT_THAT(fitted.error().to_string(), HasSubstr(says));
  }
}

TEST(InputRule, CopiesOtherStridesToThoseThatWereCompiled) {
  const InputRule rule(spec({{4, 4}, {8, 8}}, {8, 1}));
  for (const Tensor& input : {numbers({4, 8}, {1, 4}), numbers({4, 8}, {16, 2}),
                              *numbers({4, 1}, {1, 1})
                                   .view(std::vector<std::int64_t>{4, 8},
                                         std::vector<std::int64_t>{1, 0}, 0)}) {
    EXPECT_FALSE(rule.fits(input));
    const auto fitted = rule.fit(input);
    ASSERT_TRUE(fitted);
    EXPECT_THAT(fitted->strides(), ElementsAre(8, 1));
    EXPECT_FALSE(fitted->shares_storage_with(input));
    expect_same_values(*fitted, input);
  }
}

TEST(InputRule, KeepsTheMemoryWhereStridesMakeNoDifference) {
  const InputRule rule(spec({{1, 1}, {8, 8}}, {8, 1}));
  const Tensor input = numbers({1, 8}, {1, 1});
  EXPECT_FALSE(rule.fits(input));
  const auto fitted = rule.fit(input);
  ASSERT_TRUE(fitted);
  EXPECT_THAT(fitted->strides(), ElementsAre(8, 1));
  EXPECT_TRUE(fitted->shares_storage_with(input));
}

TEST(InputRule, KnowsStridesThatFollowFromSizes) {
  // What is known is that the last dimension is dense.
  const InputRule rule(spec({{2, kMax}, {2, kMax}}, {kVaries, 1}));
  EXPECT_TRUE(rule.fits(numbers({3, 5}, {5, 1})));
  const Tensor padded = numbers({3, 5}, {7, 1});
  EXPECT_FALSE(rule.fits(padded));
  EXPECT_THAT(rule.fit(padded)->strides(), ElementsAre(5, 1));
  expect_same_values(*rule.fit(padded), padded);

  const InputRule transposed(spec({{2, kMax}, {2, kMax}}, {1, kVaries}));
  EXPECT_TRUE(transposed.fits(numbers({3, 5}, {1, 3})));
  EXPECT_THAT(transposed.fit(numbers({3, 5}, {5, 1}))->strides(),
              ElementsAre(1, 3));
}

TEST(InputRule, KnowsChannelsLast) {
  const InputRule rule(spec({{2, kMax}, {3, 3}, {8, kMax}, {8, kMax}},
                            {kVaries, 1, kVaries, 3}));
  EXPECT_TRUE(rule.fits(numbers({2, 3, 8, 9}, {216, 1, 27, 3})));
  const Tensor input = numbers({2, 3, 8, 9}, {216, 72, 9, 1});
  EXPECT_THAT(rule.fit(input)->strides(), ElementsAre(216, 1, 27, 3));
  expect_same_values(*rule.fit(input), input);
}

TEST(InputRule, CopiesWhatIsMisaligned) {
  alignas(8) std::byte memory[36]{};
  const Tensor input = *Tensor::borrow(
      memory + 1, 32, std::vector<std::int64_t>{8}, {}, DType::kFloat32);
  const InputRule rule(spec({{8, 8}}, {1}));
  EXPECT_FALSE(rule.fits(input));
  const auto fitted = rule.fit(input);
  ASSERT_TRUE(fitted);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(fitted->data()) % 4, 0u);
}

TEST(InputRule, TakesEmptyInputsOfAnyStrides) {
  const InputRule rule(spec({{0, kMax}, {8, 8}}, {8, 1}));
  const auto fitted = rule.fit(numbers({0, 8}, {1, 5}));
  ASSERT_TRUE(fitted);
  EXPECT_THAT(fitted->strides(), ElementsAre(8, 1));
}

TEST(InputRule, TakesEmptyInputsWhoseOtherSizesDoNotMultiply) {
  const InputRule rule(
      spec({{0, kMax}, {0, kMax}, {0, kMax}}, {kVaries, kVaries, 1}));
  constexpr std::int64_t kHuge = std::int64_t{1} << 40;
  EXPECT_TRUE(rule.fit(numbers({0, kHuge, kHuge}, {1, 1, 1})));
}

TEST(InputRule, DoesNotPutDifferentElementsInOnePlace) {
  // Compiled for an input that repeats one row.
  const InputRule rule(spec({{4, 4}, {8, 8}}, {0, 1}));
  EXPECT_TRUE(rule.fits(*numbers({8}, {1}).view(
      std::vector<std::int64_t>{4, 8}, std::vector<std::int64_t>{0, 1}, 0)));
  const auto fitted = rule.fit(numbers({4, 8}, {8, 1}));
  ASSERT_FALSE(fitted);
  EXPECT_THAT(fitted.error().to_string(),
              HasSubstr("strides [0, 1], on which elements share memory"));
}

TEST(InputRule, TakesAnythingWhereTheLibraryDoesNotTell) {
  const InputRule rule{TensorSpec{"x", "", false, DType::kFloat32, {}, {}}};
  EXPECT_TRUE(rule.fits(numbers({3, 5}, {1, 3})));
  EXPECT_FALSE(rule.fits(Tensor()));
}

}  // namespace
}  // namespace berth::model
