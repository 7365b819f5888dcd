#include "base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <thread>

#include "base/checked.h"

namespace berth::base {
namespace {

using testing::HasSubstr;

TEST(Checked, SumsAndProductsThatDoNotFitAreNothing) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_FALSE(fits(kMost, 2, 100));
  EXPECT_FALSE(fits(2, kMost, 100));
  EXPECT_TRUE(fits(100, 0, 100));
  EXPECT_FALSE(fits(101, 0, 100));
  EXPECT_EQ(sum<std::uint64_t>(kMost, 1), std::nullopt);
  EXPECT_EQ(product<std::int64_t>(std::int64_t{1} << 62, 2), std::nullopt);
  EXPECT_EQ(product<std::int64_t>(3, 4), 12);
}

TEST(Bytes, LoadAndStoreStayInside) {
  std::array<std::byte, 8> bytes{};
  EXPECT_TRUE(store<std::uint32_t>(bytes, 4, 0x01020304));
  EXPECT_EQ(load<std::uint32_t>(bytes, 4), 0x01020304u);
  EXPECT_EQ(load<std::uint32_t>(bytes, 5), std::nullopt);
  EXPECT_FALSE(store<std::uint32_t>(bytes, 5, 1));
  EXPECT_FALSE(store<std::uint32_t>(bytes, ~0ull, 1));
}

TEST(File, ReadsWhatIsThere) {
  const std::string path = testing::TempDir() + "berth_file_test";
  {
    Descriptor file(::open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600));
    ASSERT_TRUE(file);
    const std::array<std::byte, 3> text = {std::byte{1}, std::byte{2},
                                           std::byte{3}};
    const std::array<Bytes, 3> parts = {Bytes(text).first(1), Bytes(),
                                        Bytes(text).subspan(1)};
    ASSERT_TRUE(write_all(file.get(), parts, path));
  }
  const auto bytes = read_file(path);
  ASSERT_TRUE(bytes.has_value());
  EXPECT_EQ(bytes->size(), 3u);
  std::filesystem::remove(path);
  const auto gone = read_file(path);
  ASSERT_FALSE(gone.has_value());
  EXPECT_EQ(gone.error().code(), Code::kNotFound);
  EXPECT_THAT(gone.error().to_string(), HasSubstr(path));
}

TEST(File, ADirectoryIsNotAFile) {
  const auto bytes = read_file(testing::TempDir());
  ASSERT_FALSE(bytes.has_value());
  EXPECT_EQ(bytes.error().code(), Code::kInvalidArgument);
}

TEST(File, WritingToAFullDeviceSaysHowFarItCame) {
  Descriptor full(::open("/dev/full", O_WRONLY));
  ASSERT_TRUE(full);
  const std::array<std::byte, 16> bytes{};
  const std::array<Bytes, 2> parts = {Bytes(bytes).first(4),
                                      Bytes(bytes).subspan(4)};
  const Status status = write_all(full.get(), parts, "/dev/full");
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code(), Code::kSystem);
  EXPECT_THAT(status.error().to_string(), HasSubstr("0 of 16 bytes"));
}

TEST(File, WritesThroughShortWrites) {
  // A pipe holds 64 KiB: the writer must come back for the rest.
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  Descriptor reader(ends[0]);
  Descriptor writer(ends[1]);
  const std::vector<std::byte> bytes(1 << 20, std::byte{7});
  std::size_t received = 0;
  std::thread drain([&] {
    std::array<char, 4096> buffer{};
    ssize_t n = 0;
    while ((n = ::read(reader.get(), buffer.data(), buffer.size())) > 0)
      received += static_cast<std::size_t>(n);
  });
  // More parts than the kernel takes at a time, none of them a page.
  std::vector<Bytes> parts;
  for (std::size_t at = 0; at < bytes.size(); at += 500)
    parts.push_back(Bytes(bytes).subspan(
        at, std::min<std::size_t>(500, bytes.size() - at)));
  EXPECT_TRUE(write_all(writer.get(), parts, "pipe"));
  writer.reset();
  drain.join();
  EXPECT_EQ(received, bytes.size());
}

TEST(Descriptor, ClosesWhatItOwns) {
  int number = -1;
  {
    Descriptor first(::dup(0));
    number = first.get();
    Descriptor second;
    second = std::move(first);
    EXPECT_FALSE(first);  // NOLINT: a moved-from Descriptor is empty
    EXPECT_EQ(second.get(), number);
  }
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
  EXPECT_EQ(errno, EBADF);
}

}  // namespace
}  // namespace berth::base
