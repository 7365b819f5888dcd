// The kernels of every instruction set that this machine runs.
#include "shim/ops/fft_kernels.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numbers>
#include <random>
#include <type_traits>
#include <vector>

#include "base/cpu.h"

namespace berth::shim {
namespace {

std::vector<const FftKernelSets*> sets() {
  std::vector<const FftKernelSets*> all{&kFftBaseline};
#if defined(__x86_64__)
  const auto features = base::CpuFeatures::of_this_machine();
  if (features.avx2) all.push_back(&kFftAvx2);
  if (features.avx512) all.push_back(&kFftAvx512);
#endif
  return all;
}

template <typename T>
class FftKernelsOf : public testing::Test {
 protected:
  static std::vector<FftKernels<T>> all() {
    std::vector<FftKernels<T>> kernels;
    for (const FftKernelSets* set : sets()) {
      if constexpr (std::is_same_v<T, float>)
        kernels.push_back(set->singles);
      else
        kernels.push_back(set->doubles);
    }
    return kernels;
  }

  static std::vector<T> random(std::int64_t count) {
    std::mt19937 engine(1);
    std::uniform_real_distribution<T> value(-1, 1);
    std::vector<T> values(static_cast<std::size_t>(count));
    for (T& each : values) each = value(engine);
    return values;
  }

  // Part 0 or 1 of number `k` of line `line`.
  static long double exact(const std::vector<T>& data, std::int64_t lanes,
                           std::int64_t size, std::int64_t k, int part,
                           std::int64_t line) {
    long double sum = 0;
    for (std::int64_t i = 0; i < size; ++i) {
      const long double angle = -2 * std::numbers::pi_v<long double> *
                                static_cast<long double>(i * k % size) /
                                static_cast<long double>(size);
      const long double re = data.data()[2 * i * lanes + line];
      const long double im = data.data()[(2 * i + 1) * lanes + line];
      sum += part == 0 ? re * std::cos(angle) - im * std::sin(angle)
                       : re * std::sin(angle) + im * std::cos(angle);
    }
    return sum;
  }
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(FftKernelsOf, Types);

TYPED_TEST(FftKernelsOf, TransformLinesApart) {
  using T = TypeParam;
  const long double unit = std::numeric_limits<T>::epsilon();
  for (const FftKernels<T>& kernels : this->all())
    for (const std::int64_t size : {1, 2, 3, 4, 5, 7, 11, 60, 67, 72}) {
      const auto plan = fft_plan(size, false, T{});
      const std::int64_t lanes = kernels.lanes;
      std::vector<T> data = this->random(plan->work() * 2 * lanes);
      const std::vector<T> given = data;
      std::vector<T> spare(data.size());
      const T* const found =
          kernels.transform(*plan, data.data(), spare.data());
      for (std::int64_t k = 0; k < size; ++k)
        for (const int part : {0, 1})
          for (std::int64_t line = 0; line < lanes; ++line) {
            const long double right =
                this->exact(given, lanes, size, k, part, line);
            const T number = found[(2 * k + part) * lanes + line];
            EXPECT_LE(std::abs(number - right), 90 * unit) << size << " " << k;
          }
    }
}

TYPED_TEST(FftKernelsOf, InvertAndScale) {
  using T = TypeParam;
  for (const FftKernels<T>& kernels : this->all())
    for (const std::int64_t size : {1, 2, 5, 6}) {
      const std::int64_t width = 2 * kernels.lanes;
      std::vector<T> data = this->random(size * width);
      const std::vector<T> given = data;
      kernels.invert(size, data.data());
      kernels.scale(size, T{2}, data.data());
      for (std::int64_t k = 0; k < size; ++k)
        for (std::int64_t i = 0; i < width; ++i)
          EXPECT_EQ(data.data()[k * width + i],
                    2 * given.data()[(size - k) % size * width + i]);
    }
}

TEST(FftPlan, IsKeptAndThenForgotten) {
  const auto first = fft_plan(1000, false, float{});
  EXPECT_EQ(fft_plan(1000, false, float{}), first);
  EXPECT_NE(fft_plan(1000, true, float{}), first);
  for (std::int64_t size = 1; size < 40; ++size) fft_plan(size, true, float{});
  EXPECT_EQ(first.use_count(), 1);
}

}  // namespace
}  // namespace berth::shim
