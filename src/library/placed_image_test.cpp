#include "library/placed_image.h"

#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <cstddef>
#include <cstdlib>

#include "library/placement_testing.h"

namespace berth::library {
namespace {

using testing::files_below;
using ::testing::HasSubstr;
using testing::in_child;
using ::testing::IsEmpty;
using testing::kImage;
using testing::kNotPermitted;
using testing::mount_small;
using testing::TempDirectory;

Result<PlacedImage> place(const ModelOptions& options) {
  const base::Bytes image = kImage;
  return PlacedImage::place({&image, 1}, options);
}

std::string reason(const Result<PlacedImage>& placed) {
  return placed ? "placed " + placed->path() : placed.error().to_string();
}

ModelOptions options_for(const TempDirectory& temp,
                         Placement placement = Placement::kDefault) {
  ModelOptions options;
  options.temp_directory = temp.path();
  options.placement = placement;
  return options;
}

int refuse_memory(const char*, unsigned) {
  errno = EPERM;
  return -1;
}

int refuse_directory(const char*, mode_t) {
  errno = EROFS;
  return -1;
}

struct Prefix {
  const char* name;
  std::string text;
  bool good;
};

class PrefixTest : public ::testing::TestWithParam<Prefix> {};

TEST_P(PrefixTest, IsCheckedBeforeItBecomesAName) {
  const TempDirectory temp;
  ModelOptions options;
  options.temp_directory = temp.path();
  options.file_prefix = GetParam().text;
  const auto image = place(options);
  EXPECT_EQ(image.has_value(), GetParam().good) << reason(image);
  if (!image) {
    EXPECT_EQ(image.error().code(), Code::kInvalidArgument);
    EXPECT_THAT(reason(image), HasSubstr("expected 1 to 64 letters"));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Placement, PrefixTest,
    ::testing::Values(Prefix{"Plain", "my-Model_2", true},
                      Prefix{"Longest", std::string(64, 'x'), true},
                      Prefix{"TooLong", std::string(65, 'x'), false},
                      Prefix{"Empty", "", false},
                      Prefix{"Climbing", "../x", false},
                      Prefix{"WithSlash", "a/b", false},
                      Prefix{"WithNul", std::string("a\0b", 3), false},
                      Prefix{"NotAscii", "\xc3\xa4", false}),
    [](const auto& param_info) { return param_info.param.name; });

TEST(Automatic, IsAFileWhereThatIsPossible) {
  const TempDirectory temp;
  auto image = place(options_for(temp));
  ASSERT_TRUE(image) << image.error();
  EXPECT_FALSE(image->in_memory());
  EXPECT_EQ(image->fallback_reason(), "");
  EXPECT_THAT(image->path(), HasSubstr(temp.inner()));
  EXPECT_EQ(image->take_written().bytes().size(), kImage.size());
  EXPECT_TRUE(image->remove());
  EXPECT_THAT(files_below(temp.path()), IsEmpty());
}

TEST(Automatic, FallsBackToMemoryAndSaysWhy) {
  const TempDirectory temp;
  const testing::ScopedOs scope;
  os().mkdir = refuse_directory;
  const auto image = place(options_for(temp));
  ASSERT_TRUE(image) << image.error();
  EXPECT_TRUE(image->in_memory());
  EXPECT_THAT(image->fallback_reason(), HasSubstr("Read-only file system"));
  EXPECT_THAT(image->fallback_reason(), HasSubstr(temp.inner()));
}

TEST(Automatic, NamesBothAttemptsWhereBothAreRefused) {
  const TempDirectory temp;
  const testing::ScopedOs scope;
  os().mkdir = refuse_directory;
  os().memfd_create = refuse_memory;
  const auto image = place(options_for(temp));
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().code(), Code::kSystem);
  for (const char* part :
       {"the library of 5 bytes cannot be placed",
        "no directory holds its file", "Read-only file system",
        "memory does not hold it", "Operation not permitted"})
    EXPECT_THAT(reason(image), HasSubstr(part));
}

TEST(Automatic, DoesNotFallBackForWhatNoPlaceCouldMeet) {
  const TempDirectory temp;
  ModelOptions options = options_for(temp);
  options.file_prefix = "a/b";
  const auto image = place(options);
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().code(), Code::kInvalidArgument);
}

// Fault: a temp directory from which no code may be mapped, or that is full.
TEST(Automatic, FallsBackFromARealNoexecReadOnlyOrFullDirectory) {
  struct Case {
    unsigned long flags;
    const char* reason;
  };
  for (const Case& one :
       {Case{MS_NOEXEC, "noexec"}, Case{MS_RDONLY, "Read-only"},
        Case{0, "No space left"}}) {
    const TempDirectory temp;
    const int end = in_child([&] {
      if (!mount_small(temp.path(), one.flags)) return kNotPermitted;
      const std::vector<std::byte> big(one.flags == 0 ? 1 << 20 : 5);
      const base::Bytes bytes = big;
      auto image = PlacedImage::place({&bytes, 1}, options_for(temp));
      if (!image || !image->in_memory()) return 1;
      if (image->fallback_reason().find(one.reason) == std::string::npos)
        return 2;
      return files_below(temp.path()).empty() ? 0 : 3;
    });
    if (end == kNotPermitted) GTEST_SKIP() << "mounting is not permitted here";
    EXPECT_EQ(end, 0) << one.reason;
  }
}

// Makes this process's memfd_create() fail as a hardened sandbox does.
bool forbid_memfd(int error) {
  const auto refusal =
      static_cast<std::uint32_t>(SECCOMP_RET_ERRNO | (error & 0xffff));
  std::array<sock_filter, 4> filter = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, refusal),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program = {static_cast<unsigned short>(filter.size()),
                              filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Fault: a sandbox without memfd.
TEST(Memory, ThatASandboxForbidsIsRefusedOrNotNeeded) {
  for (const int error : {EPERM, ENOSYS}) {
    const TempDirectory temp;
    const int end = in_child([&] {
      if (!forbid_memfd(error)) return kNotPermitted;
      if (const auto image = place(options_for(temp));
          !image || image->in_memory())
        return 1;
      const auto memory = place(options_for(temp, Placement::kMemory));
      if (memory ||
          reason(memory).find("cannot create memory") == std::string::npos)
        return 2;
      const auto both = place([] {
        ModelOptions options;
        options.temp_directory = "/nowhere";
        return options;
      }());
      if (both) return 3;
      return reason(both).find("/nowhere") != std::string::npos &&
                     reason(both).find("cannot create memory") !=
                         std::string::npos
                 ? 0
                 : 4;
    });
    if (end == kNotPermitted) GTEST_SKIP() << "seccomp is not permitted here";
    EXPECT_EQ(end, 0) << error;
  }
}

TEST(File, IsNotReplacedByMemory) {
  const TempDirectory temp;
  const testing::ScopedOs scope;
  os().mkdir = refuse_directory;
  os().memfd_create = [](const char*, unsigned) {
    ADD_FAILURE() << "memory was not asked for";
    return -1;
  };
  const auto image = place(options_for(temp, Placement::kFile));
  ASSERT_FALSE(image);
  EXPECT_THAT(reason(image), HasSubstr("Read-only file system"));
}

TEST(Memory, TouchesNoDirectory) {
  const TempDirectory temp;
  const testing::ScopedOs scope;
  os().mkdir = [](const char*, mode_t) {
    ADD_FAILURE() << "no directory was asked for";
    return -1;
  };
  const auto image = place(options_for(temp, Placement::kMemory));
  ASSERT_TRUE(image) << image.error();
  EXPECT_TRUE(image->in_memory());
  EXPECT_EQ(image->fallback_reason(), "") << "it was what was asked for";
}

TEST(Environment, DecidesWhereTheOptionDoesNot) {
  const TempDirectory temp;
  EXPECT_EQ(in_child([&] {
              ::setenv("BERTH_PLACEMENT", "memory", 1);
              const auto memory = place(options_for(temp));
              if (!memory || !memory->in_memory()) return 1;
              const auto file = place(options_for(temp, Placement::kFile));
              if (!file || file->in_memory()) return 2;
              ::setenv("BERTH_PLACEMENT", "file", 1);
              const auto other = place(options_for(temp));
              if (!other || other->in_memory()) return 3;
              ::setenv("BERTH_PLACEMENT", "automatic", 1);
              return place(options_for(temp)) ? 0 : 4;
            }),
            0);
  EXPECT_EQ(in_child([&] {
              ::setenv("BERTH_PLACEMENT", "disk", 1);
              const auto image = place(options_for(temp));
              if (image || image.error().code() != Code::kInvalidArgument)
                return 1;
              return reason(image).find(
                         "placement 'disk': expected 'automatic', 'file' or "
                         "'memory'; while reading BERTH_PLACEMENT") !=
                             std::string::npos
                         ? 0
                         : 2;
            }),
            0);
}

TEST(KeepFiles, LeavesTheFileUnderANameThatNoSweepTakes) {
  const TempDirectory temp;
  ModelOptions options = options_for(temp);
  options.keep_files = true;
  std::string kept;
  EXPECT_EQ(in_child([&]() -> int {
              auto image = place(options);
              if (!image) return 1;
              if (!image->remove()) return 2;
              std::exit(0);
            }),
            0);
  ASSERT_EQ(files_below(temp.path()).size(), 1u);
  kept = files_below(temp.path())[0];
  EXPECT_THAT(kept, ::testing::EndsWith(".kept.so"));
  EXPECT_EQ(testing::read_text(kept), "hello");
  // The next process sweeps the directory, and leaves it.
  EXPECT_EQ(in_child([&] { return place(options_for(temp)) ? 0 : 1; }), 0);
  EXPECT_TRUE(std::filesystem::exists(kept));
}

TEST(KeepFiles, IsAlsoASettingOfTheEnvironmentAndNeedsAFile) {
  const TempDirectory temp;
  EXPECT_EQ(in_child([&] {
              ::setenv("BERTH_KEEP_FILES", "1", 1);
              const auto image = place(options_for(temp));
              return image && image->path().ends_with(".kept.so") ? 0 : 1;
            }),
            0);
  ModelOptions options = options_for(temp, Placement::kMemory);
  options.keep_files = true;
  const auto image = place(options);
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().code(), Code::kInvalidArgument);
  // One that could not be placed whole is not kept.
  const TempDirectory other;
  const testing::ScopedOs scope;
  os().write_all = [](int, std::span<const base::Bytes>,
                      const std::string&) -> Status {
    return fail(Code::kSystem, "no");
  };
  options = options_for(other);
  options.keep_files = true;
  EXPECT_FALSE(place(options));
  EXPECT_THAT(files_below(other.path()), IsEmpty());
}

TEST(PlacedImage, LeavesNothingWhicheverCallFails) {
  const TempDirectory temp;
  const std::size_t descriptors = testing::descriptor_count();
  for (const Placement placement :
       {Placement::kAutomatic, Placement::kFile, Placement::kMemory}) {
    for (int n = 1;; ++n) {
      {
        const testing::FailingCall failing(n);
        auto image = place(options_for(temp, placement));
        if (image) {
          EXPECT_EQ(image->take_written().bytes().size(), kImage.size());
          (void)image->remove();
        } else {
          EXPECT_EQ(image.error().code(), Code::kSystem) << n;
          EXPECT_NE(placement, Placement::kAutomatic)
              << n << ": one refusal is not the end: " << reason(image);
        }
        if (!testing::FailingCall::happened()) break;
      }
      EXPECT_THAT(files_below(temp.path()), IsEmpty()) << n;
      EXPECT_EQ(testing::descriptor_count(), descriptors) << n;
    }
  }
}

}  // namespace
}  // namespace berth::library
