#include "berth/error.h"

#include <gmock/gmock.h>

#include "berth/result.h"

namespace berth {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

Result<int> half(int n) {
  if (n % 2 != 0)
    return fail(Code::kInvalidArgument, "expected an even number, found ", n);
  return n / 2;
}

Result<int> quarter(int n) {
  BERTH_TRY(const int h, noted(half(n), "halving once"));
  return noted(half(h), "halving twice");
}

Status check_half(int n) {
  BERTH_TRY(const int h, half(n));
  (void)h;
  return ok();
}

TEST(Error, JoinsItsPartsAndSaysWhere) {
  const Result<int> result = half(3);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code(), Code::kInvalidArgument);
  EXPECT_EQ(result.error().message(), "expected an even number, found 3");
  EXPECT_THAT(
      result.error().to_string(),
      StartsWith("InvalidArgument: expected an even number, found 3 ["));
  EXPECT_THAT(result.error().to_string(), HasSubstr("base/error_test.cpp:"));
  EXPECT_THAT(result.error().to_string(), EndsWith("]"));
}

TEST(Error, CarriesTheNoteOfTheLayerThatAddedIt) {
  EXPECT_EQ(quarter(8).value_or(-1), 2);
  const Result<int> outer = quarter(6);
  ASSERT_FALSE(outer.has_value());
  EXPECT_THAT(outer.error().to_string(),
              HasSubstr("found 3; while halving twice ["));
  EXPECT_FALSE(quarter(5).has_value());
}

TEST(Error, IsCopiedWhole) {
  const Result<int> result = half(3);
  Error copy = result.error();
  copy.note("copying");
  EXPECT_THAT(copy.to_string(), HasSubstr("while copying"));
  EXPECT_EQ(result.error().to_string().find("copying"), std::string::npos);
  Error assigned = copy;
  assigned = result.error();
  EXPECT_EQ(assigned.to_string(), result.error().to_string());
}

TEST(Error, IsOnePointerWide) {
  EXPECT_EQ(sizeof(Error), sizeof(void*));
  EXPECT_LE(sizeof(Result<void*>), 2 * sizeof(void*));
}

TEST(Error, NamesEveryCode) {
  EXPECT_STREQ(to_string(Code::kInvalidArgument), "InvalidArgument");
  EXPECT_STREQ(to_string(Code::kInternal), "Internal");
  EXPECT_STREQ(to_string(Code::kBusy), "Busy");
  EXPECT_STREQ(to_string(static_cast<Code>(11)), "Unknown");
  EXPECT_STREQ(to_string(static_cast<Code>(0)), "Unknown");
  EXPECT_STREQ(to_string(static_cast<Code>(200)), "Unknown");
}

TEST(Result, CheckReturnsTheErrorToTheCaller) {
  EXPECT_TRUE(check_half(4).has_value());
  EXPECT_FALSE(check_half(5).has_value());
}

}  // namespace
}  // namespace berth
