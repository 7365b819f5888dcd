#include "base/cpu.h"

#include <gtest/gtest.h>

namespace berth::base {
namespace {

CpuFeatures avx2_only() {
  CpuFeatures features;
  features.avx2 = true;
  return features;
}

TEST(Cpu, CodeForALesserSetRuns) {
  CpuFeatures features = avx2_only();
  features.avx512 = true;
  EXPECT_EQ(first_unsupported("AVX2", features), "");
  EXPECT_EQ(first_unsupported("avx512", features), "");
}

TEST(Cpu, CodeForAGreaterSetDoesNot) {
  EXPECT_EQ(first_unsupported("AVX512", avx2_only()), "AVX512");
  EXPECT_EQ(first_unsupported("avx512", avx2_only()), "avx512");
  EXPECT_EQ(first_unsupported("AVX2", CpuFeatures{}), "AVX2");
}

TEST(Cpu, EveryWordOfATargetCounts) {
  CpuFeatures features = avx2_only();
  features.avx512 = true;
  EXPECT_EQ(first_unsupported("AVX512 AVX512_VNNI AMX_TILE", features),
            "AVX512_VNNI");
  features.avx512_vnni = true;
  EXPECT_EQ(first_unsupported("AVX512 AVX512_VNNI AMX_TILE", features),
            "AMX_TILE");
  features.amx_tile = true;
  EXPECT_EQ(first_unsupported("AVX512 AVX512_VNNI AMX_TILE", features), "");
}

TEST(Cpu, UnknownWordsAreNotHeldAgainstAModel) {
  EXPECT_EQ(first_unsupported("DEFAULT", CpuFeatures{}), "");
  EXPECT_EQ(first_unsupported("", CpuFeatures{}), "");
  EXPECT_EQ(first_unsupported("  AVX99,,", CpuFeatures{}), "");
}

TEST(Cpu, SaysWhatItHas) {
  EXPECT_EQ(to_string(avx2_only()), "AVX2");
  EXPECT_EQ(to_string(CpuFeatures{}), "none beyond the baseline");
}

}  // namespace
}  // namespace berth::base
