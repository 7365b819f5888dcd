#include <gmock/gmock.h>

#include <cstdlib>

#include "shim/functions.h"

namespace berth::shim {
namespace {

TEST(Environment, DelegatesCheckTheirInputsUnlessTheUserSaysOtherwise) {
  constexpr const char* kName = "AOTI_RUNTIME_CHECK_INPUTS";
  ::unsetenv(kName);
  EXPECT_STREQ(berenv(kName), "1");
  ::setenv(kName, "0", 1);
  EXPECT_STREQ(berenv(kName), "0");
  ::setenv(kName, "", 1);
  EXPECT_STREQ(berenv(kName), "");
  ::unsetenv(kName);
}

TEST(Environment, EveryOtherNameIsPassedOn) {
  ::setenv("BERTH_ENVIRONMENT_TEST", "value", 1);
  EXPECT_STREQ(berenv("BERTH_ENVIRONMENT_TEST"), "value");
  ::unsetenv("BERTH_ENVIRONMENT_TEST");
  EXPECT_EQ(berenv("BERTH_ENVIRONMENT_TEST"), nullptr);
}

}  // namespace
}  // namespace berth::shim
