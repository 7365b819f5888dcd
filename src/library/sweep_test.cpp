#include "library/sweep.h"

#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <csignal>

#include "library/library_testing.h"
#include "library/placed_file.h"

namespace berth::library {
namespace {

using ::testing::ElementsAre;
using testing::files_below;
using ::testing::IsEmpty;
using testing::TempDirectory;
using ::testing::UnorderedElementsAre;

std::size_t sweep_path(const std::string& directory) {
  const base::Descriptor open(
      ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return sweep(open.get(), "berth");
}

Result<PlacedFile> place_in(const std::string& directory) {
  ModelOptions options;
  options.temp_directory = directory;
  const std::array<std::byte, 1> image{};
  const base::Bytes bytes = image;
  return PlacedFile::place({&bytes, 1}, options);
}

// A child that has placed a file and waits to be killed.
class Owner {
 public:
  explicit Owner(const std::string& directory) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    child_ = testing::start_child([&] {
      const auto file = place_in(directory);
      if (!file || ::write(ends[1], "x", 1) != 1) return 1;
      for (;;) ::pause();
    });
    char ready = 0;
    EXPECT_EQ(::read(ends[0], &ready, 1), 1);
    ::close(ends[0]);
    ::close(ends[1]);
  }
  ~Owner() { kill(); }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

  void kill() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    testing::end_of(std::exchange(child_, 0));
  }

 private:
  pid_t child_ = 0;
};

TEST(Sweep, RemovesTheFileOfAKilledProcessAndNotThatOfALiveOne) {
  const TempDirectory temp;
  Owner dead(temp.path());
  const std::vector<std::string> of_dead = files_below(temp.path());
  ASSERT_EQ(of_dead.size(), 1u);
  const Owner live(temp.path());
  const auto ours = place_in(temp.path());
  ASSERT_TRUE(ours);
  EXPECT_EQ(sweep_path(temp.inner()), 0u) << "all three are alive";
  dead.kill();
  EXPECT_EQ(sweep_path(temp.inner()), 1u);
  const auto left = files_below(temp.path());
  EXPECT_EQ(left.size(), 2u);
  EXPECT_THAT(left, ::testing::Not(::testing::Contains(of_dead[0])));
  EXPECT_THAT(left, ::testing::Contains(ours->path()));
}

TEST(Sweep, IsDoneByTheFirstPlacementInADirectoryAndByNoLaterOne) {
  const TempDirectory temp;
  ASSERT_EQ(::mkdir(temp.inner().c_str(), 0700), 0);
  const std::string first = temp.inner() + "/berth_1_0.so";
  testing::write_text(first, "left over");
  const auto file = place_in(temp.path());
  ASSERT_TRUE(file);
  EXPECT_THAT(files_below(temp.path()), ElementsAre(file->path()));
  testing::write_text(first, "left over");
  const auto second = place_in(temp.path());
  ASSERT_TRUE(second);
  EXPECT_THAT(files_below(temp.path()),
              UnorderedElementsAre(first, file->path(), second->path()));
}

TEST(Sweep, LeavesWhatItWouldNotHaveNamed) {
  const TempDirectory temp;
  const std::vector<std::string> names = {
      "berth_1_2.so.bak", "berth_1.so",    "berth_1_x.so", "berth__2.so",
      "other_1_2.so",     "berth_1_2_.so", "xberth_1_2.so"};
  for (const std::string& name : names)
    testing::write_text(temp.path() + "/" + name, "");
  EXPECT_EQ(sweep_path(temp.path()), 0u);
  EXPECT_EQ(files_below(temp.path()).size(), names.size());
}

TEST(Sweep, FollowsNoLinksAndHangsOnNoPipes) {
  const TempDirectory temp;
  const std::string victim = temp.path() + "/victim";
  testing::write_text(victim, "untouched");
  ASSERT_EQ(::symlink(victim.c_str(), (temp.path() + "/berth_1_1.so").c_str()),
            0);
  ASSERT_EQ(::mkfifo((temp.path() + "/berth_1_2.so").c_str(), 0600), 0);
  ASSERT_EQ(::mkdir((temp.path() + "/berth_1_3.so").c_str(), 0700), 0);
  EXPECT_EQ(sweep_path(temp.path()), 0u);
  EXPECT_EQ(testing::read_text(victim), "untouched");
  EXPECT_EQ(files_below(temp.path()).size(), 3u);
}

TEST(Sweep, LeavesFilesOfOtherUsers) {
  const TempDirectory temp;
  const std::string theirs = temp.path() + "/berth_1_1.so";
  testing::write_text(theirs, "");
  if (::chown(theirs.c_str(), 12345, 12345) != 0)
    GTEST_SKIP() << "giving a file away is not permitted here";
  EXPECT_EQ(sweep_path(temp.path()), 0u);
  EXPECT_THAT(files_below(temp.path()), ElementsAre(theirs));
}

TEST(Sweep, LeavesNoDescriptorWhicheverCallFails) {
  const TempDirectory temp;
  const std::size_t descriptors = testing::descriptor_count();
  for (int n = 1; n <= 5; ++n) {
    testing::write_text(temp.path() + "/berth_1_1.so", "");
    const base::Descriptor open(
        ::open(temp.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const testing::FailingCall failing(n);
    EXPECT_EQ(sweep(open.get(), "berth"), 0u) << n;
    EXPECT_TRUE(testing::FailingCall::happened()) << n;
    EXPECT_EQ(testing::descriptor_count(), descriptors + 1) << n;
  }
  EXPECT_EQ(sweep_path(temp.path()), 1u);
  EXPECT_THAT(files_below(temp.path()), IsEmpty());
}

}  // namespace
}  // namespace berth::library
