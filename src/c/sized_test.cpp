#include "c/sized.h"

#include <gmock/gmock.h>

#include <cstdint>

namespace berth::c {
namespace {

using testing::HasSubstr;

// What this library knows, and what an older and a newer program may know.
struct Known {
  std::size_t struct_size;
  std::int64_t first;
  std::int64_t second;
};
struct Older {
  std::size_t struct_size;
  std::int64_t first;
};
struct Newer {
  std::size_t struct_size;
  std::int64_t first;
  std::int64_t second;
  std::int64_t third;
};

template <typename Struct>
Result<Known> read(const Struct& given) {
  return read_struct(reinterpret_cast<const Known*>(&given), "options");
}
template <typename Struct>
Status write(const Known& value, Struct& out) {
  return write_struct(value, reinterpret_cast<Known*>(&out), "info");
}

TEST(Sized, ReadsWhatAnOlderProgramKnows) {
  const Older given{sizeof(given), 7};
  const auto known = read(given);
  ASSERT_TRUE(known.has_value()) << known.error();
  EXPECT_EQ(known->first, 7);
  EXPECT_EQ(known->second, 0);
}

TEST(Sized, ReadsANewerStructWhoseNewFieldsAreNotUsed) {
  Newer given{sizeof(given), 7, 8, 0};
  const auto known = read(given);
  ASSERT_TRUE(known.has_value()) << known.error();
  EXPECT_EQ(known->second, 8);
  given.third = 1;
  const auto asked = read(given);
  ASSERT_FALSE(asked.has_value());
  EXPECT_EQ(asked.error().code(), Code::kUnsupported);
  EXPECT_THAT(asked.error().to_string(),
              HasSubstr("'options' sets a field at byte 24"));
}

TEST(Sized, WritesAsMuchAsTheProgramHasRoomFor) {
  struct {
    Older older{sizeof(Older), 0};
    std::int64_t beyond = -1;
  } room;
  EXPECT_TRUE(write({0, 7, 8}, room.older).has_value());
  EXPECT_EQ(room.older.struct_size, sizeof(Older));
  EXPECT_EQ(room.older.first, 7);
  EXPECT_EQ(room.beyond, -1);
}

TEST(Sized, WritesZeroToFieldsThatItDoesNotKnow) {
  Newer newer{sizeof(newer), -1, -1, -1};
  EXPECT_TRUE(write({0, 7, 8}, newer).has_value());
  EXPECT_EQ(newer.struct_size, sizeof(Newer));
  EXPECT_EQ(newer.second, 8);
  EXPECT_EQ(newer.third, 0);
}

TEST(Sized, RefusesASizeThatWasNeverSet) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{7},
                                 kMostStructBytes + 1, ~std::size_t{0}}) {
    Known given{size, -1, -1};
    const auto known = read(given);
    ASSERT_FALSE(known.has_value());
    EXPECT_EQ(known.error().code(), Code::kInvalidArgument);
    EXPECT_THAT(known.error().to_string(), HasSubstr("as its struct_size"));
    EXPECT_FALSE(write({0, 7, 8}, given).has_value());
    EXPECT_EQ(given.first, -1);
  }
}

}  // namespace
}  // namespace berth::c
