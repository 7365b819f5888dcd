#include "elf/edited_bytes.h"

#include <gmock/gmock.h>

#include <numeric>

namespace berth::elf {
namespace {

using ::testing::ElementsAre;

std::vector<std::byte> counted(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = std::byte(i % 251);
  return bytes;
}

std::vector<std::byte> joined(const EditedBytes& edited) {
  std::vector<std::byte> bytes;
  for (const base::Bytes part : edited.parts())
    bytes.insert(bytes.end(), part.begin(), part.end());
  return bytes;
}

Edit edit(std::uint64_t offset, std::uint32_t size, unsigned char value) {
  Edit edit{offset, size, {}};
  edit.bytes.fill(std::byte{value});
  return edit;
}

TEST(EditedBytes, AreTheOriginalItselfWithoutEdits) {
  const auto original = counted(1000);
  const EditedBytes edited(original, {});
  ASSERT_EQ(edited.parts().size(), 1u);
  EXPECT_EQ(edited.parts()[0].data(), original.data());
  EXPECT_EQ(edited.size(), 1000u);
}

TEST(EditedBytes, AreWhatEditingACopyGives) {
  auto expected = counted(200'000);
  const auto original = expected;
  // Near and far, out of order, meeting, at both ends.
  const std::vector<Edit> edits = {edit(150'000, 8, 1), edit(0, 1, 2),
                                   edit(100, 4, 3),     edit(102, 4, 4),
                                   edit(199'999, 1, 5), edit(60'000, 0, 6)};
  for (const Edit& e : edits)
    std::copy_n(e.bytes.begin(), e.size_bytes,
                expected.begin() + static_cast<std::ptrdiff_t>(e.offset));
  const EditedBytes edited(original, edits);
  EXPECT_EQ(joined(edited), expected);
  EXPECT_EQ(original, counted(200'000));
}

TEST(EditedBytes, CopyOnlyWhatIsNearAnEdit) {
  const auto original = counted(1'000'000);
  const EditedBytes edited(
      original, {edit(10, 2, 1), edit(500, 2, 1), edit(900'000, 2, 1)});
  std::vector<std::size_t> copied;
  for (const base::Bytes part : edited.parts())
    if (part.data() < original.data() ||
        part.data() >= original.data() + original.size())
      copied.push_back(part.size());
  EXPECT_THAT(copied, ElementsAre(4096u, 4096u));
}

TEST(EditedBytes, OfNothingHaveNoParts) {
  EXPECT_TRUE(EditedBytes({}, {}).parts().empty());
}

}  // namespace
}  // namespace berth::elf
