#include "library/placed_file.h"

#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "library/placement_testing.h"

namespace berth::library {
namespace {

using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using testing::files_below;
using ::testing::HasSubstr;
using testing::in_child;
using ::testing::IsEmpty;
using testing::kImage;
using testing::kNotPermitted;
using testing::mode_of;
using testing::mount_small;
using testing::place_in;
using testing::reason;
using ::testing::StartsWith;
using testing::TempDirectory;

// The number in <prefix>_<pid>_<number>.so.
long number_of(const std::string& path) {
  return std::stol(path.substr(path.rfind('_') + 1));
}

TEST(PlacedFile, HoldsTheImageForItsOwnerOnly) {
  const TempDirectory temp;
  const auto file = place_in(temp.path());
  ASSERT_TRUE(file) << file.error();
  EXPECT_THAT(file->path(),
              StartsWith(temp.inner() + "/berth_" + std::to_string(getpid())));
  EXPECT_THAT(file->path(), ContainsRegex("_[0-9]+\\.so$"));
  EXPECT_EQ(testing::read_text(file->path()), "hello");
  EXPECT_EQ(mode_of(file->path()), 0600u);
  EXPECT_EQ(mode_of(temp.inner()), 0700u);
}

TEST(PlacedFile, IsRemovedByItsDestructorOrEarlier) {
  const TempDirectory temp;
  auto first = place_in(temp.path());
  ASSERT_TRUE(first);
  {
    const auto second = place_in(temp.path());
    ASSERT_TRUE(second);
    EXPECT_EQ(files_below(temp.path()).size(), 2u);
  }
  EXPECT_THAT(files_below(temp.path()), ElementsAre(first->path()));
  EXPECT_TRUE(first->remove());
  EXPECT_THAT(files_below(temp.path()), IsEmpty());
  EXPECT_TRUE(first->remove()) << "a second removal has nothing to do";
}

TEST(PlacedFile, MovesWithoutRemovingAndRemovesWhatItReplaces) {
  const TempDirectory temp;
  auto first = place_in(temp.path());
  auto second = place_in(temp.path());
  ASSERT_TRUE(first && second);
  const std::string kept = second->path();
  *first = std::move(*second);
  EXPECT_THAT(files_below(temp.path()), ElementsAre(kept));
  EXPECT_EQ(first->path(), kept);
}

TEST(PlacedFile, ToleratesThatSomebodyElseRemovedIt) {
  const TempDirectory temp;
  auto file = place_in(temp.path());
  ASSERT_TRUE(file);
  ASSERT_EQ(::unlink(file->path().c_str()), 0);
  EXPECT_TRUE(file->remove());
}

TEST(PlacedFile, NeverUsesAPathTwice) {
  const TempDirectory temp;
  std::mutex mutex;
  std::set<std::string> paths;
  const auto place_many = [&] {
    for (int i = 0; i < 50; ++i) {
      const auto file = place_in(temp.path());
      ASSERT_TRUE(file) << file.error();
      const std::lock_guard lock(mutex);
      paths.insert(file->path());
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(place_many);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(paths.size(), 400u);
}

TEST(PlacedFile, TakesItsNumbersOnAcrossAFork) {
  const TempDirectory temp;
  const auto before = place_in(temp.path());
  ASSERT_TRUE(before);
  EXPECT_EQ(in_child([&] {
              const auto file = place_in(temp.path());
              const std::string pid = "_" + std::to_string(::getpid()) + "_";
              return file && file->path().find(pid) != std::string::npos &&
                             number_of(file->path()) > number_of(before->path())
                         ? 0
                         : 1;
            }),
            0);
}

TEST(PlacedFile, PassesOverNamesThatSomebodyPlanted) {
  const TempDirectory temp;
  const std::string victim = temp.path() + "/victim";
  testing::write_text(victim, "untouched");
  const auto before = place_in(temp.path());
  ASSERT_TRUE(before);
  const long number = number_of(before->path());
  const std::string start =
      before->path().substr(0, before->path().rfind('_') + 1);
  for (long i = 1; i <= 50; ++i) {
    const std::string planted = start + std::to_string(number + i) + ".so";
    ASSERT_EQ(::symlink(victim.c_str(), planted.c_str()), 0);
  }
  const auto file = place_in(temp.path());
  ASSERT_TRUE(file) << file.error();
  EXPECT_EQ(number_of(file->path()), number + 51);
  EXPECT_EQ(testing::read_text(victim), "untouched");
}

TEST(PlacedFile, GivesUpAfterAThousandPlantedNames) {
  const TempDirectory temp;
  const testing::ScopedOs scope;
  os().openat = [](int directory, const char* path, int flags, mode_t mode) {
    if ((flags & O_CREAT) == 0) return ::openat(directory, path, flags, mode);
    errno = EEXIST;
    return -1;
  };
  EXPECT_THAT(reason(place_in(temp.path())), HasSubstr("1000 files in a row"));
}

TEST(PlacedFile, TakesTheNextNameWhenASweepWasFaster) {
  const TempDirectory temp;
  const testing::ScopedOs scope;
  static int calls;
  calls = 0;
  os().flock = [](int fd, int operation) {
    if (++calls == 1) {  // The sweep holds the lock.
      errno = EWOULDBLOCK;
      return -1;
    }
    if (calls == 2) {  // The sweep is done with the file.
      const std::string link = "/proc/self/fd/" + std::to_string(fd);
      ::unlink(std::filesystem::read_symlink(link).c_str());
    }
    return ::flock(fd, operation);
  };
  const auto file = place_in(temp.path());
  ASSERT_TRUE(file) << file.error();
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(testing::read_text(file->path()), "hello");
}

TEST(PlacedFile, KeepsItsDescriptorFromExecutedPrograms) {
  const TempDirectory temp;
  const auto file = place_in(temp.path());
  ASSERT_TRUE(file);
  for (int fd = 3; fd < 64; ++fd) {
    const int flags = ::fcntl(fd, F_GETFD);
    struct stat opened {};
    struct stat placed {};
    if (flags < 0 || ::fstat(fd, &opened) != 0) continue;
    ASSERT_EQ(::stat(file->path().c_str(), &placed), 0);
    if (opened.st_ino == placed.st_ino) {
      EXPECT_NE(flags & FD_CLOEXEC, 0);
    }
  }
}

TEST(FullDisk, IsAnErrorAndLeavesNothing) {
  const TempDirectory temp;
  const int end = in_child([&] {
    if (!mount_small(temp.path(), 0)) return kNotPermitted;
    const std::vector<std::byte> big(1 << 20);
    const std::string text = reason(place_in(temp.path(), big));
    if (text.find("1048576 bytes") == std::string::npos) return 1;
    if (text.find("No space left") == std::string::npos) return 2;
    if (!files_below(temp.path()).empty()) return 3;
    return place_in(temp.path()) ? 0 : 4;
  });
  if (end == kNotPermitted) GTEST_SKIP() << "mounting is not permitted here";
  EXPECT_EQ(end, 0);
}

TEST(FileSizeLimit, IsAnErrorAndLeavesNothing) {
  const TempDirectory temp;
  const int end = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::vector<std::byte> big(1 << 20);
    const std::string text = reason(place_in(temp.path(), big));
    if (text.find("File too large") == std::string::npos) return 1;
    if (!files_below(temp.path()).empty()) return 2;
    return place_in(temp.path()) ? 0 : 3;
  });
  EXPECT_EQ(end, 0);
}

TEST(PlacedFile, LeavesNothingWhicheverCallFails) {
  const TempDirectory temp;
  const std::size_t descriptors = testing::descriptor_count();
  int failures = 0;
  for (int n = 1;; ++n) {
    {
      const testing::FailingCall failing(n);
      auto file = place_in(temp.path());
      if (file) {
        EXPECT_EQ(testing::read_text(file->path()), "hello");
        (void)file->remove();
      } else {
        EXPECT_EQ(file.error().code(), Code::kSystem) << n;
        EXPECT_THAT(reason(file),
                    AnyOf(HasSubstr(temp.inner()), HasSubstr("cannot stat '/"),
                          HasSubstr("the test refused")))
            << n;
        ++failures;
      }
      if (!testing::FailingCall::happened()) break;
    }
    EXPECT_THAT(files_below(temp.path()), IsEmpty()) << n;
    EXPECT_EQ(testing::descriptor_count(), descriptors) << n;
    EXPECT_TRUE(place_in(temp.path())) << n;
  }
  EXPECT_GE(failures, 7);
}

TEST(ProcessExit, RemovesFilesThatAreStillThere) {
  const TempDirectory temp;
  EXPECT_EQ(in_child([&]() -> int {
              // Not destroyed: exit() unwinds nothing.
              const auto file = place_in(temp.path());
              std::exit(file && files_below(temp.path()).size() == 1 ? 3 : 4);
            }),
            3);
  EXPECT_THAT(files_below(temp.path()), IsEmpty());
}

TEST(ProcessExit, OfAForkedChildRemovesItsOwnFilesOnly) {
  const TempDirectory temp;
  static Result<PlacedFile>* ours;  // Destroyed by neither process's exit.
  ours = new Result<PlacedFile>(place_in(temp.path()));
  ASSERT_TRUE(*ours);
  for (const bool places_too : {false, true}) {
    EXPECT_EQ(in_child([&]() -> int {
                std::optional<Result<PlacedFile>> childs;
                if (places_too) childs.emplace(place_in(temp.path()));
                std::exit(!places_too || *childs ? 0 : 1);
              }),
              0);
    EXPECT_THAT(files_below(temp.path()), ElementsAre((*ours)->path()));
  }
  // Nor does the child's copy of the object, when it is destroyed.
  EXPECT_EQ(in_child([&] {
              delete ours;
              return 0;
            }),
            0);
  EXPECT_THAT(files_below(temp.path()), ElementsAre((*ours)->path()));
  delete ours;
  EXPECT_THAT(files_below(temp.path()), IsEmpty());
}

}  // namespace
}  // namespace berth::library
