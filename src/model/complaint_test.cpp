#include "model/complaint.h"

#include <gmock/gmock.h>

namespace berth::model {
namespace {

using About = Complaint::About;

struct Said {
  const char* text;
  Complaint expected;
};

// As torch 2.9 to 2.15 write them.
const Said kSaid[] = {
    {"the run returned 1: input_handles[0]: unmatched dtype, expected: "
     "6(at::kFloat), but got: 7\n",
     {0, About::kDType, 0, 6}},
    {"input_handles[12]: unmatched dim value at 1, expected: 64, but got: 3",
     {12, About::kSize, 1, 64}},
    {"input_handles[0]: dim value is too small at 0, expected it to be >= 2, "
     "but got: -1",
     {0, About::kSizeTooSmall, 0, 2}},
    {"input_handles[0]: dim value is too large at 3, expected to be <= 64, "
     "but got: 65",
     {0, About::kSizeTooLarge, 3, 64}},
    {"input_handles[0]: unmatched stride value at 0, expected: 64, but got: 1",
     {0, About::kStride, 0, 64}},
};

TEST(Complaint, IsReadWithItsNumbers) {
  for (const Said& said : kSaid) {
    const auto found = Complaint::find(said.text);
    ASSERT_TRUE(found) << said.text;
    EXPECT_EQ(found->input, said.expected.input) << said.text;
    EXPECT_EQ(found->about, said.expected.about) << said.text;
    EXPECT_EQ(found->dimension, said.expected.dimension) << said.text;
    EXPECT_EQ(found->expected, said.expected.expected) << said.text;
  }
}

TEST(Complaint, IsNotSeenInOtherTexts) {
  for (const char* text :
       {"", "input_handles[", "input_handles[x]: unmatched dtype, expected: 6",
        "input_handles[0]: unmatched device type, expected: 00(cpu)",
        "input_handles[0] unmatched dtype, expected: 6",
        "input_handles[0]: unmatched dtype, expected: six",
        "input_handles[0]: unmatched dim value at one, expected: 6",
        "input_handles[0]: unmatched dim value at 1",
        "input_handles[99999999999999999999]: unmatched dtype, expected: 6",
        "expected ndim 2 but got 3\nError in op: input"})
    EXPECT_FALSE(Complaint::find(text)) << text;
}

}  // namespace
}  // namespace berth::model
