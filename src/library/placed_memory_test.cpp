#include "library/placed_memory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <array>
#include <mutex>
#include <set>
#include <thread>

#include "library/library_testing.h"
#include "library/placement_testing.h"

namespace berth::library {
namespace {

using ::testing::HasSubstr;
using testing::kImage;

Result<PlacedMemory> place(const std::string& prefix = "berth") {
  const std::array<base::Bytes, 2> parts = {base::Bytes(kImage).first(2),
                                            base::Bytes(kImage).subspan(2)};
  return PlacedMemory::place(parts, prefix);
}

int number_of(const std::string& path) {
  return std::stoi(path.substr(path.rfind('/') + 1));
}

TEST(PlacedMemory, HoldsThePartsInOrder) {
  auto memory = place();
  ASSERT_TRUE(memory) << memory.error();
  EXPECT_EQ(testing::read_text(memory->path()), "hello");
  const WrittenImage written = memory->take_written();
  EXPECT_TRUE(std::ranges::equal(written.bytes(), kImage));
  EXPECT_TRUE(memory->take_written().bytes().empty());
}

TEST(PlacedMemory, CannotBeChangedAnyMore) {
  const auto memory = place();
  ASSERT_TRUE(memory);
  const int fd = number_of(memory->path());
  EXPECT_EQ(::write(fd, "x", 1), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(::ftruncate(fd, 0), -1);
  EXPECT_EQ(::ftruncate(fd, 100), -1);
  EXPECT_EQ(::fcntl(fd, F_ADD_SEALS, 0), -1);
  EXPECT_EQ(::mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0),
            MAP_FAILED);
}

// Fault: a library handed out for a path that came back with the number of a
// descriptor.
TEST(PlacedMemory, NeverHasAPathTwiceThoughNumbersComeAgain) {
  std::set<std::string> paths;
  std::set<int> numbers;
  for (int i = 0; i < 300; ++i) {
    auto memory = place();
    ASSERT_TRUE(memory);
    EXPECT_TRUE(paths.insert(memory->path()).second) << memory->path();
    numbers.insert(number_of(memory->path()));
    EXPECT_EQ(testing::read_text(memory->path()), "hello");
  }
  EXPECT_EQ(numbers.size(), 1u) << "no number came again: nothing was shown";
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const auto memory = place();
        const std::lock_guard lock(mutex);
        EXPECT_TRUE(paths.insert(memory->path()).second) << memory->path();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(PlacedMemory, IsSeenInTheMapsUnderItsName) {
  const auto memory = place("my-model");
  ASSERT_TRUE(memory);
  const std::string name = "memfd:my-model_" + std::to_string(::getpid()) + "_";
  EXPECT_GE(testing::mapping_count(name), 1u);
}

TEST(PlacedMemory, GivesItsDescriptorBack) {
  const std::size_t before = testing::descriptor_count();
  auto memory = place();
  ASSERT_TRUE(memory);
  EXPECT_EQ(testing::descriptor_count(), before + 1);
  EXPECT_TRUE(memory->remove());
  EXPECT_TRUE(memory->remove());
  EXPECT_EQ(testing::descriptor_count(), before);
}

// Whether a program that this process executes has an open descriptor with
// `text` in its name.
bool inherits(const std::string& text) {
  std::fflush(nullptr);
  const std::string command = "ls -l /proc/self/fd | grep -qF '" + text + "'";
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  return testing::end_of(child) == 0;
}

TEST(Descriptors, AreClosedInExecutedPrograms) {
  const testing::TempDirectory temp;
  const auto memory = place("closed-on-exec");
  const auto file = testing::place_in(temp.path());
  ASSERT_TRUE(memory && file);
  EXPECT_FALSE(inherits("closed-on-exec"));
  EXPECT_FALSE(inherits(temp.path()));
  // The check sees what is inherited.
  const int copy = ::dup(number_of(memory->path()));
  EXPECT_TRUE(inherits("closed-on-exec"));
  ::close(copy);
}

TEST(OldKernel, ThatDoesNotKnowTheFlagForCodeIsAskedAgain) {
  const testing::ScopedOs scope;
  static int calls;
  calls = 0;
  os().memfd_create = [](const char* name, unsigned flags) {
    ++calls;
    if ((flags & 0x10U) == 0) return ::memfd_create(name, flags);
    errno = EINVAL;
    return -1;
  };
  EXPECT_TRUE(place());
  EXPECT_EQ(calls, 2);
}

TEST(RefusedMemory, NamesWhatWasRefused) {
  const testing::ScopedOs scope;
  os().memfd_create = [](const char*, unsigned) {
    errno = ENOSYS;
    return -1;
  };
  const auto memory = place();
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().code(), Code::kSystem);
  EXPECT_THAT(memory.error().to_string(),
              HasSubstr("cannot create memory 'berth_"));
  EXPECT_THAT(memory.error().to_string(), HasSubstr("not implemented"));
}

TEST(RefusedMemory, IsNoMemoryWhenCodeCannotBeMappedFromIt) {
  const testing::ScopedOs scope;
  os().mmap = [](void*, std::size_t, int protection, int, int, off_t) -> void* {
    EXPECT_NE(protection & PROT_EXEC, 0);
    errno = EACCES;
    return MAP_FAILED;
  };
  const auto memory = place();
  ASSERT_FALSE(memory);
  EXPECT_THAT(memory.error().to_string(), HasSubstr("cannot map code from"));
}

}  // namespace
}  // namespace berth::library
