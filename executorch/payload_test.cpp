#include "executorch/payload.h"

#include <gmock/gmock.h>

namespace berth::executorch {
namespace {

using testing::HasSubstr;

TEST(Payload, TwoLinesAreTheTwoKeys) {
  const auto payload = Payload::parse("a_so_blob\na_weights_blob", "forward");
  ASSERT_TRUE(payload.has_value());
  ASSERT_EQ(payload->candidates().size(), 1u);
  EXPECT_EQ(payload->candidates()[0].library, "a_so_blob");
  EXPECT_EQ(payload->candidates()[0].weights, "a_weights_blob");
}

TEST(Payload, ALastNewlineIsAllowed) {
  const auto payload = Payload::parse("a\nb\n", "forward");
  ASSERT_TRUE(payload.has_value());
  EXPECT_EQ(payload->candidates()[0].weights, "b");
}

TEST(Payload, NoBytesMeanTheKeysOfOlderPrograms) {
  const auto payload = Payload::parse("", "prefill");
  ASSERT_TRUE(payload.has_value());
  ASSERT_EQ(payload->candidates().size(), 2u);
  EXPECT_EQ(payload->candidates()[0].library, "prefill_so_blob");
  EXPECT_EQ(payload->candidates()[0].weights, "prefill_weights_blob");
  EXPECT_EQ(payload->candidates()[1].library, "so_blob");
  EXPECT_EQ(payload->candidates()[1].weights, "weights_blob");
}

TEST(Payload, WithoutAMethodNameOnlyThePlainKeyIsLeft) {
  const auto payload = Payload::parse("", "");
  ASSERT_TRUE(payload.has_value());
  ASSERT_EQ(payload->candidates().size(), 1u);
  EXPECT_EQ(payload->candidates()[0].library, "so_blob");
}

TEST(Payload, KeysOfAnyLengthAndContentAreKept) {
  const std::string longest(300, 'k');
  const std::string nul("a\0b", 3);
  for (const std::string& key :
       {longest, nul, std::string("../../x"), std::string("a/b"), std::string(),
        std::string("\xff\xfe")}) {
    const auto payload = Payload::parse(key + "\n" + key, "forward");
    ASSERT_TRUE(payload.has_value()) << quoted_key(key);
    EXPECT_EQ(payload->candidates()[0].library, key);
    EXPECT_EQ(payload->candidates()[0].weights, key);
  }
}

TEST(Payload, AnythingButTwoLinesIsCorrupt) {
  for (const char* bytes : {"one line", "a\nb\nc", "a\nb\n\n", "a\nb\nc\n"}) {
    const auto payload = Payload::parse(bytes, "forward");
    ASSERT_FALSE(payload.has_value()) << bytes;
    EXPECT_EQ(payload.error().code(), Code::kCorrupt);
    EXPECT_THAT(payload.error().to_string(), HasSubstr("two lines"));
  }
}

TEST(QuotedKey, IsPrintableAndShort) {
  EXPECT_EQ(quoted_key("a/b"), "'a/b'");
  EXPECT_EQ(quoted_key(std::string("a\0\n\\", 4)), "'a\\x00\\x0a\\x5c'");
  EXPECT_THAT(quoted_key(std::string(300, 'k')), HasSubstr("kkk...kkk"));
  EXPECT_THAT(quoted_key(std::string(300, 'k')), HasSubstr("(300 bytes)"));
  EXPECT_LT(quoted_key(std::string(1 << 20, '\xff')).size(), 400u);
}

}  // namespace
}  // namespace berth::executorch
