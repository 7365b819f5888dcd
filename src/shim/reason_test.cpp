#include "shim/reason.h"

#include <gmock/gmock.h>

#include <new>
#include <stdexcept>
#include <thread>

#include "shim/functions.h"
#include "shim/trap.h"

namespace berth::shim {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Reason, IsTheLastOneAndIsTakenOnce) {
  keep_reason("first", "one");
  keep_reason("second", "two");
  EXPECT_EQ(take_reason(), "second: two");
  EXPECT_EQ(take_reason(), "");
  keep_reason("third", "three");
  clear_reason();
  EXPECT_EQ(take_reason(), "");
}

TEST(Reason, BelongsToItsThread) {
  clear_reason();
  std::thread([] { keep_reason("worker", "failed"); }).join();
  EXPECT_EQ(take_reason(), "");
}

TEST(Reason, IsCutWhenItIsLong) {
  keep_reason("entry", std::string(5000, 'x'));
  const std::string reason = take_reason();
  EXPECT_EQ(reason.size(), 1024u);
  EXPECT_THAT(reason, StartsWith("entry: xxx"));
}

TEST(Trap, TurnsErrorsAndExceptionsIntoOneAndKeepsThem) {
  clear_reason();
  EXPECT_EQ(trap("f", [] { return ok(); }), 0);
  EXPECT_EQ(take_reason(), "");
  EXPECT_EQ(
      trap("f", []() -> Status { return fail(Code::kNotFound, "no ", 7); }), 1);
  EXPECT_THAT(take_reason(), StartsWith("f: NotFound: no 7 ["));
  EXPECT_EQ(trap("g", []() -> Status { throw std::bad_alloc(); }), 1);
  EXPECT_THAT(take_reason(), HasSubstr("bad_alloc"));
  EXPECT_EQ(trap("h", []() -> Status { throw 1; }), 1);
  EXPECT_THAT(take_reason(), StartsWith("h: "));
}

TEST(Check, ThrowsThroughTheDelegateAndKeepsTheReason) {
  clear_reason();
  aoti_berth_check(true, "f", "m.cpp", 3, "never");
  EXPECT_EQ(take_reason(), "");
  try {
    aoti_berth_check(false, "run_impl", "m.cpp", 42, "u0 >= 2");
    FAIL() << "a failed check returned";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "u0 >= 2 (run_impl at m.cpp:42)");
  }
  EXPECT_THAT(take_reason(), HasSubstr("u0 >= 2 (run_impl at m.cpp:42)"));
  EXPECT_THROW(aoti_berth_check(false, nullptr, nullptr, 0, nullptr),
               std::runtime_error);
  clear_reason();
}

TEST(GradMode, IsKeptPerThread) {
  EXPECT_TRUE(aoti_berth_grad_mode_is_enabled());
  aoti_berth_grad_mode_set_enabled(false);
  EXPECT_FALSE(aoti_berth_grad_mode_is_enabled());
  std::thread([] { EXPECT_TRUE(aoti_berth_grad_mode_is_enabled()); }).join();
  aoti_berth_grad_mode_set_enabled(true);
}

}  // namespace
}  // namespace berth::shim
