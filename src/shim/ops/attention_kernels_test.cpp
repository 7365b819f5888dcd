// The kernels of every instruction set that this machine runs, beside loops in
// double.
#include "shim/ops/attention_kernels.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/cpu.h"

namespace berth::shim {
namespace {

using Floats = std::vector<float>;

constexpr float kNever = -std::numeric_limits<float>::infinity();

Floats random(std::int64_t size, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> value(-1, 1);
  Floats floats(static_cast<std::size_t>(size));
  for (float& each : floats) each = value(engine);
  return floats;
}

struct Set {
  const char* name;
  const AttentionKernels<float>* kernels;
};

std::vector<Set> sets() {
  std::vector<Set> all{{"Baseline", &kAttentionBaseline.panels},
                       {"BaselineRow", &kAttentionBaseline.rows}};
#if defined(__x86_64__)
  const auto features = base::CpuFeatures::of_this_machine();
  if (features.avx2) {
    all.push_back({"Avx2", &kAttentionAvx2.panels});
    all.push_back({"Avx2Row", &kAttentionAvx2.rows});
  }
  if (features.avx512) {
    all.push_back({"Avx512", &kAttentionAvx512.panels});
    all.push_back({"Avx512Row", &kAttentionAvx512.rows});
  }
#endif
  return all;
}

class AttentionKernelsOf : public testing::TestWithParam<Set> {
 protected:
  const AttentionKernels<float>& kernels_ = *GetParam().kernels;
  const std::int64_t panel_ = kernels_.panel;

  std::vector<std::int64_t> counts() const {
    return panel_ == 1 ? std::vector<std::int64_t>{1}
                       : std::vector<std::int64_t>{1, panel_ / 2,
                                                   panel_ / 2 + 1, panel_};
  }
};

TEST_P(AttentionKernelsOf, ScoreMultiplies) {
  for (const std::int64_t keys : {0, 1, 2, 3, 8, 13, 31})
    for (const std::int64_t width : {1, 3, 16, 37, 130}) {
      const std::int64_t step = width + 5;
      const Floats query = random(panel_ * width, 1);
      const Floats key = random(keys * step + 1, 2);
      for (const std::int64_t count : counts()) {
        Floats scores(static_cast<std::size_t>(keys * panel_));
        kernels_.score(query.data(), count, {key.data(), keys, width, step, 1},
                       0.5f, scores.data());
        for (std::int64_t k = 0; k < keys; ++k)
          for (std::int64_t i = 0; i < count; ++i) {
            double sum = 0;
            for (std::int64_t d = 0; d < width; ++d)
              sum += double{query.data()[d * panel_ + i]} *
                     key.data()[k * step + d];
            EXPECT_NEAR(scores.data()[k * panel_ + i], sum / 2, 1e-5)
                << keys << "x" << width << " of " << count;
          }
      }
    }
}

TEST_P(AttentionKernelsOf, GatherWeighs) {
  for (const std::int64_t keys : {0, 1, 5, 20})
    for (const std::int64_t width : {1, 3, 16, 37, 64, 130, 200}) {
      const std::int64_t step = width + 3;
      const Floats weights = random(keys * panel_ + 1, 1);
      const Floats value = random(keys * step + 1, 2);
      const Floats shrink = random(panel_, 3);
      const Floats before = random(width * panel_, 4);
      for (const std::int64_t count : counts()) {
        Floats sums = before;
        kernels_.gather(weights.data(), count,
                        {value.data(), keys, width, step, 1}, shrink.data(),
                        sums.data());
        for (std::int64_t d = 0; d < width; ++d)
          for (std::int64_t i = 0; i < count; ++i) {
            double sum = double{before.data()[d * panel_ + i]} *
                         shrink[static_cast<std::size_t>(i)];
            for (std::int64_t k = 0; k < keys; ++k)
              sum += double{weights.data()[k * panel_ + i]} *
                     value.data()[k * step + d];
            EXPECT_NEAR(sums.data()[d * panel_ + i], sum, 1e-5)
                << keys << "x" << width << " of " << count;
          }
      }
    }
}

// Makes weights of blocks of scores, and of the whole at once in double.
TEST_P(AttentionKernelsOf, SoftenKeepsTopAndTotal) {
  const std::int64_t sizes[] = {1, 5, 40};
  const auto width = static_cast<std::size_t>(panel_);
  Floats top(width, kNever);
  Floats total(width, 0);
  Floats shrink(width, 0);
  std::vector<double> tops(width, kNever);
  std::vector<double> totals(width, 0);
  for (const std::int64_t keys : sizes) {
    Floats scores = random((keys + 16) * panel_, static_cast<unsigned>(keys));
    for (float& score : scores) score *= 40;
    const Floats given = scores;
    kernels_.soften(keys, panel_, scores.data(),
                    {top.data(), total.data(), shrink.data()});
    for (std::size_t i = 0; i < width; ++i) {
      const double before = tops[i];
      for (std::int64_t k = 0; k < keys; ++k)
        tops[i] = std::max<double>(
            tops[i], given[static_cast<std::size_t>(k) * width + i]);
      totals[i] *= std::exp(before - tops[i]);
      for (std::int64_t k = 0; k < keys; ++k) {
        const auto at = static_cast<std::size_t>(k) * width + i;
        const float from_top = given[at] - static_cast<float>(tops[i]);
        const double weight = std::exp(double{from_top});
        totals[i] += weight;
        EXPECT_NEAR(scores[at], weight, 3e-7 * weight);
      }
      EXPECT_EQ(top[i], tops[i]);
      EXPECT_NEAR(total[i], totals[i], 1e-6 * totals[i]);
      EXPECT_NEAR(shrink[i], std::exp(before - tops[i]), 1e-6);
    }
  }
}

TEST_P(AttentionKernelsOf, SoftenHidesInfinityAndPassesNaNOn) {
  const auto width = static_cast<std::size_t>(panel_);
  Floats top(width, kNever);
  Floats total(width, 0);
  Floats shrink(width, 7);
  Floats scores(20 * width, kNever);
  kernels_.soften(3, panel_, scores.data(),
                  {top.data(), total.data(), shrink.data()});
  for (std::size_t i = 0; i < width; ++i) {
    EXPECT_EQ(top[i], kNever);
    EXPECT_EQ(total[i], 0);
    EXPECT_EQ(scores[i], 0);
    EXPECT_EQ(shrink[i], 0);
  }
  scores.assign(20 * width, kNever);
  scores[0] = std::numeric_limits<float>::quiet_NaN();
  kernels_.soften(3, panel_, scores.data(),
                  {top.data(), total.data(), shrink.data()});
  EXPECT_TRUE(std::isnan(total[0]));
  EXPECT_TRUE(std::isnan(scores[0]));
}

// Between the least that is not 0 and 0.
TEST_P(AttentionKernelsOf, SoftenIsAccurate) {
  const auto width = static_cast<std::size_t>(panel_);
  constexpr std::int64_t kKeys = 4096;
  Floats scores((kKeys + 16) * width, 0);
  for (std::size_t i = 1; i < kKeys * width; ++i)
    scores[i] = -std::fmod(static_cast<float>(i) * 0.0371f, 87.0f);
  for (std::size_t i = 0; i < width; ++i) scores[i] = 0;
  const Floats given = scores;
  Floats top(width, kNever);
  Floats total(width, 0);
  Floats shrink(width, 0);
  kernels_.soften(kKeys, panel_, scores.data(),
                  {top.data(), total.data(), shrink.data()});
  double worst = 0;
  for (std::size_t i = 0; i < kKeys * width; ++i) {
    const double exact = std::exp(double{given[i]});
    const double unit = std::ldexp(1.0, std::ilogb(exact) - 23);
    worst = std::max(worst, std::abs(scores[i] - exact) / unit);
  }
  EXPECT_LT(worst, 2);
}

INSTANTIATE_TEST_SUITE_P(Sets, AttentionKernelsOf, testing::ValuesIn(sets()),
                         [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace berth::shim
