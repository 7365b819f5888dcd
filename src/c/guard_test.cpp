#include "c/guard.h"

#include <gmock/gmock.h>

#include <stdexcept>
#include <string>
#include <thread>

namespace berth::c {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Guard, GivesTheCodeAndKeepsTheSentence) {
  EXPECT_EQ(guard([] { return ok(); }), BERTH_OK);
  EXPECT_EQ(guard([]() -> Status { return fail(Code::kBusy, "later"); }),
            BERTH_BUSY);
  EXPECT_THAT(berth_last_error(), StartsWith("Busy: later [c/guard_test.cpp"));
  // Success leaves the last failure where it is.
  EXPECT_EQ(guard([] { return ok(); }), BERTH_OK);
  EXPECT_THAT(berth_last_error(), StartsWith("Busy: later"));
}

TEST(Guard, LetsNoExceptionOut) {
  EXPECT_EQ(guard([]() -> Status { throw std::bad_alloc(); }),
            BERTH_OUT_OF_MEMORY);
  EXPECT_THAT(berth_last_error(), StartsWith("OutOfMemory"));
  EXPECT_EQ(guard([]() -> Status { throw std::length_error("too long"); }),
            BERTH_INTERNAL);
  EXPECT_THAT(berth_last_error(), HasSubstr("too long"));
}

TEST(Guard, KeepsASentenceForEachThread) {
  EXPECT_EQ(keep(Code::kCorrupt, "here"), BERTH_CORRUPT);
  std::thread([] {
    EXPECT_STREQ(berth_last_error(), "");
    EXPECT_EQ(keep(Code::kSystem, "there"), BERTH_SYSTEM);
    EXPECT_THAT(berth_last_error(), StartsWith("System: there"));
  }).join();
  EXPECT_THAT(berth_last_error(), StartsWith("Corrupt: here"));
}

TEST(Guard, KeepsTheWholeOfALongSentence) {
  const std::string text(100'000, 'x');
  EXPECT_EQ(guard([&]() -> Status { return fail(Code::kNotFound, text); }),
            BERTH_NOT_FOUND);
  EXPECT_THAT(berth_last_error(), HasSubstr(text));
}

TEST(Guard, NamesTheArgumentThatIsNull) {
  const int there = 0;
  EXPECT_TRUE(check({{&there, "there"}}).has_value());
  const Status status = check({{&there, "there"}, {nullptr, "missing"}});
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(status.error().to_string(), HasSubstr("'missing' must not"));
}

}  // namespace
}  // namespace berth::c
