// The kernels of every instruction set that this machine runs, beside loops in
// long double.
#include "shim/ops/attention_kernels.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "base/cpu.h"

namespace berth::shim {
namespace {

template <typename T>
constexpr T kNever = -std::numeric_limits<T>::infinity();
template <typename T>
constexpr long double kUnit = std::numeric_limits<T>::epsilon();

// So that a failure says both numbers.
void expect_near(long double found, long double exact, long double tolerance) {
  EXPECT_LE(std::abs(found - exact), tolerance) << found << ", not " << exact;
}

template <typename T>
std::vector<T> random(std::int64_t size, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<T> value(-1, 1);
  std::vector<T> values(static_cast<std::size_t>(size));
  for (T& each : values) each = value(engine);
  return values;
}

std::vector<const AttentionKernelSets*> sets() {
  std::vector<const AttentionKernelSets*> all{&kAttentionBaseline};
#if defined(__x86_64__)
  const auto features = base::CpuFeatures::of_this_machine();
  if (features.avx2) all.push_back(&kAttentionAvx2);
  if (features.avx512) all.push_back(&kAttentionAvx512);
#endif
  return all;
}

template <typename T>
class AttentionKernelsOf : public testing::Test {
 protected:
  static std::vector<AttentionKernels<T>> all() {
    std::vector<AttentionKernels<T>> kernels;
    for (const AttentionKernelSets* each : sets()) {
      const AttentionKernelSet<T>* set = nullptr;
      if constexpr (std::is_same_v<T, float>)
        set = &each->singles;
      else
        set = &each->doubles;
      kernels.push_back(set->panels);
      kernels.push_back(set->rows);
    }
    return kernels;
  }

  static std::vector<std::int64_t> counts(const AttentionKernels<T>& kernels) {
    const std::int64_t half = kernels.panel / 2;
    if (half == 0) return {1};
    return {1, half, half + 1, kernels.panel};
  }
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(AttentionKernelsOf, Types);

TYPED_TEST(AttentionKernelsOf, ScoreMultiplies) {
  using T = TypeParam;
  for (const AttentionKernels<T>& kernels : this->all())
    for (const std::int64_t keys : {0, 1, 2, 3, 8, 13, 31})
      for (const std::int64_t width : {1, 3, 16, 37, 130}) {
        const std::int64_t panel = kernels.panel;
        const std::int64_t step = width + 5;
        const auto query = random<T>(panel * width, 1);
        const auto key = random<T>(keys * step + 1, 2);
        for (const std::int64_t count : this->counts(kernels)) {
          std::vector<T> scores(static_cast<std::size_t>(keys * panel));
          kernels.score(query.data(), count, {key.data(), keys, width, step, 1},
                        T{0.5}, scores.data());
          for (std::int64_t k = 0; k < keys; ++k)
            for (std::int64_t i = 0; i < count; ++i) {
              long double sum = 0;
              for (std::int64_t d = 0; d < width; ++d)
                sum += static_cast<long double>(query.data()[d * panel + i]) *
                       key.data()[k * step + d];
              expect_near(scores.data()[k * panel + i], sum / 2, 90 * kUnit<T>);
            }
        }
      }
}

TYPED_TEST(AttentionKernelsOf, GatherWeighs) {
  using T = TypeParam;
  for (const AttentionKernels<T>& kernels : this->all())
    for (const std::int64_t keys : {0, 1, 5, 20})
      for (const std::int64_t width : {1, 3, 16, 37, 64, 130, 200}) {
        const std::int64_t panel = kernels.panel;
        const std::int64_t step = width + 3;
        const auto weights = random<T>(keys * panel + 1, 1);
        const auto value = random<T>(keys * step + 1, 2);
        const auto shrink = random<T>(panel, 3);
        const auto before = random<T>(width * panel, 4);
        for (const std::int64_t count : this->counts(kernels)) {
          std::vector<T> sums = before;
          kernels.gather(weights.data(), count,
                         {value.data(), keys, width, step, 1}, shrink.data(),
                         sums.data());
          for (std::int64_t d = 0; d < width; ++d)
            for (std::int64_t i = 0; i < count; ++i) {
              long double sum =
                  static_cast<long double>(before.data()[d * panel + i]) *
                  shrink.data()[i];
              for (std::int64_t k = 0; k < keys; ++k)
                sum += static_cast<long double>(weights.data()[k * panel + i]) *
                       value.data()[k * step + d];
              expect_near(sums.data()[d * panel + i], sum, 90 * kUnit<T>);
            }
        }
      }
}

template <typename T>
struct State {
  std::vector<T> top, total, shrink;

  explicit State(std::int64_t panel)
      : top(static_cast<std::size_t>(panel), kNever<T>),
        total(top.size(), 0),
        shrink(top.size(), 7) {}

  Softmax<T> softmax() { return {top.data(), total.data(), shrink.data()}; }
};

// Makes weights of blocks of scores, after some that it has seen already.
TYPED_TEST(AttentionKernelsOf, SoftenKeepsTopAndTotal) {
  using T = TypeParam;
  for (const AttentionKernels<T>& kernels : this->all()) {
    const auto panel = static_cast<std::size_t>(kernels.panel);
    State<T> state(kernels.panel);
    std::vector<T> tops = state.top;
    std::vector<long double> totals(panel, 0);
    for (const std::size_t keys : {1, 5, 40}) {
      auto scores = random<T>(static_cast<std::int64_t>((keys + 16) * panel),
                              static_cast<unsigned>(keys));
      for (T& score : scores) score *= 40;
      const std::vector<T> given = scores;
      kernels.soften(static_cast<std::int64_t>(keys), kernels.panel,
                     scores.data(), state.softmax());
      for (std::size_t i = 0; i < panel; ++i) {
        const T before = tops[i];
        for (std::size_t k = 0; k < keys; ++k)
          tops[i] = std::max(tops[i], given[k * panel + i]);
        const long double shrink = std::exp(
            static_cast<long double>(static_cast<T>(before - tops[i])));
        totals[i] *= shrink;
        for (std::size_t k = 0; k < keys; ++k) {
          const T from_top = given[k * panel + i] - tops[i];
          const long double weight =
              std::exp(static_cast<long double>(from_top));
          totals[i] += weight;
          expect_near(scores[k * panel + i], weight, 3 * kUnit<T> * weight);
        }
        EXPECT_EQ(state.top[i], tops[i]);
        expect_near(state.total[i], totals[i], 9 * kUnit<T> * totals[i]);
        expect_near(state.shrink[i], shrink, 3 * kUnit<T>);
      }
    }
  }
}

TYPED_TEST(AttentionKernelsOf, SoftenHidesInfinityAndPassesNaNOn) {
  using T = TypeParam;
  for (const AttentionKernels<T>& kernels : this->all()) {
    const auto panel = static_cast<std::size_t>(kernels.panel);
    State<T> state(kernels.panel);
    std::vector<T> scores(20 * panel, kNever<T>);
    kernels.soften(3, kernels.panel, scores.data(), state.softmax());
    EXPECT_THAT(state.top, testing::Each(kNever<T>));
    EXPECT_THAT(state.total, testing::Each(T{0}));
    EXPECT_THAT(state.shrink, testing::Each(T{0}));
    for (std::size_t i = 0; i < 3 * panel; ++i) EXPECT_EQ(scores[i], 0);

    scores.assign(20 * panel, kNever<T>);
    scores[0] = std::numeric_limits<T>::quiet_NaN();
    kernels.soften(3, kernels.panel, scores.data(), state.softmax());
    EXPECT_TRUE(std::isnan(state.total[0]));
    EXPECT_TRUE(std::isnan(scores[0]));
  }
}

// Down to the least number that has all its digits, and below.
TYPED_TEST(AttentionKernelsOf, SoftenIsAccurate) {
  using T = TypeParam;
  const T least = std::is_same_v<T, float> ? -87 : -708;
  constexpr std::int64_t kKeys = 4096;
  for (const AttentionKernels<T>& kernels : this->all()) {
    const auto panel = static_cast<std::size_t>(kernels.panel);
    State<T> state(kernels.panel);
    std::vector<T> scores((kKeys + 16) * panel, 0);
    for (std::size_t i = panel; i < kKeys * panel; ++i)
      scores[i] =
          std::fmod(static_cast<T>(i) * static_cast<T>(0.0371), T{1}) * least;
    for (std::size_t i = panel; i < 2 * panel; ++i) scores[i] = least * 2;
    const std::vector<T> given = scores;
    kernels.soften(kKeys, kernels.panel, scores.data(), state.softmax());
    long double worst = 0;
    for (std::size_t i = 2 * panel; i < kKeys * panel; ++i) {
      const long double exact = std::exp(static_cast<long double>(given[i]));
      const long double unit = std::ldexp(kUnit<T>, std::ilogb(exact));
      worst = std::max(worst, std::abs(scores[i] - exact) / unit);
    }
    EXPECT_LT(worst, 2);
    for (std::size_t i = panel; i < 2 * panel; ++i) EXPECT_EQ(scores[i], 0);
  }
}

}  // namespace
}  // namespace berth::shim
