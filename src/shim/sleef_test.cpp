#include "shim/sleef.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <array>
#include <cmath>

namespace berth::shim {
namespace {

using Floats = float __attribute__((vector_size(16)));
using Doubles = double __attribute__((vector_size(16)));

template <typename Function>
Function exported(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
}

class Sleef : public testing::Test {
 protected:
  void SetUp() override {
    if (exported<void*>("Berth_expf4_u10") == nullptr)
      GTEST_SKIP() << "built without libsleef";
  }
};

TEST_F(Sleef, RefusesWhatIsNoneOfItsFunctions) {
  for (const char* name :
       {"", "Sleef_", "Sleef_nothing", "Sleef_exp", "expf4_u10",
        "Berth_expf4_u10", "Sleef_expf4_u1", "Sleef_expf4_u100", "zzz"}) {
    EXPECT_FALSE(serves_sleef(name)) << name;
    EXPECT_EQ(bind_sleef(name).error().code(), Code::kNotFound) << name;
  }
}

TEST_F(Sleef, AStubReturnsItsArgumentUntilItIsBound) {
  const auto log2 = exported<Floats (*)(Floats)>("Berth_log2f4_u10");
  ASSERT_NE(log2, nullptr);
  EXPECT_EQ(log2(Floats{8, 8, 8, 8})[0], 8);
  ASSERT_TRUE(bind_sleef("Sleef_log2f4_u10").has_value());
  EXPECT_EQ(log2(Floats{8, 8, 8, 8})[0], 3);
}

TEST_F(Sleef, BoundStubsComputeWhatTheirNameSays) {
  ASSERT_TRUE(serves_sleef("Sleef_expf4_u10"));
  ASSERT_TRUE(serves_sleef("Sleef_powd2_u10"));
  ASSERT_TRUE(serves_sleef("Sleef_fmodf4"));
  const auto exp = exported<Floats (*)(Floats)>("Berth_expf4_u10");
  const Floats powers = exp(Floats{0, 1, -2, 3.5f});
  EXPECT_NEAR(powers[2], std::exp(-2.0f), 1e-6f);
  EXPECT_NEAR(powers[3], std::exp(3.5f), 1e-4f);
  const auto pow = exported<Doubles (*)(Doubles, Doubles)>("Berth_powd2_u10");
  EXPECT_NEAR(pow(Doubles{2, 3}, Doubles{10, 4})[0], 1024, 1e-9);
  EXPECT_NEAR(pow(Doubles{2, 3}, Doubles{10, 4})[1], 81, 1e-9);
  const auto fmod = exported<Floats (*)(Floats, Floats)>("Berth_fmodf4");
  EXPECT_EQ(fmod(Floats{7, 7, 7, 7}, Floats{4, 4, 4, 4})[0], 3);
}

// All that the surveyed libraries import.
TEST_F(Sleef, ServesWhatDelegatesUse) {
  for (const char* name :
       {"Sleef_expf8_u10", "Sleef_tanhf8_u10", "Sleef_cosf8_u35",
        "Sleef_sinf8_u35", "Sleef_fmodf8", "Sleef_log10f8_u10",
        "Sleef_log1pf8_u10", "Sleef_logf8_u10", "Sleef_acosf8_u10",
        "Sleef_asinf8_u10", "Sleef_atan2f8_u10", "Sleef_atanf8_u10",
        "Sleef_copysignf8", "Sleef_coshf8_u10", "Sleef_erfcf8_u15",
        "Sleef_exp2f8_u10"})
    EXPECT_TRUE(serves_sleef(name)) << name;
}

}  // namespace
}  // namespace berth::shim
