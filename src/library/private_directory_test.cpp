#include "library/private_directory.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "library/placement_testing.h"

namespace berth::library {
namespace {

using testing::files_below;
using ::testing::HasSubstr;
using testing::in_child;
using ::testing::IsEmpty;
using testing::kNotPermitted;
using testing::mode_of;
using testing::mount_small;
using testing::place_in;
using testing::reason;
using testing::TempDirectory;

TEST(PrivateDirectory, ThatIsASymbolicLinkIsRefused) {
  const TempDirectory temp;
  const TempDirectory elsewhere;
  ASSERT_EQ(::symlink(elsewhere.path().c_str(), temp.inner().c_str()), 0);
  EXPECT_THAT(reason(place_in(temp.path())),
              HasSubstr("a symbolic link, expected a directory"));
  EXPECT_THAT(files_below(elsewhere.path()), IsEmpty());
}

TEST(PrivateDirectory, ThatIsAFileIsRefused) {
  const TempDirectory temp;
  testing::write_text(temp.inner(), "");
  EXPECT_THAT(reason(place_in(temp.path())), HasSubstr("is a file"));
}

TEST(PrivateDirectory, OfAnotherUserIsRefused) {
  const TempDirectory temp;
  ASSERT_EQ(::mkdir(temp.inner().c_str(), 0777), 0);
  if (::chown(temp.inner().c_str(), 12345, 12345) != 0)
    GTEST_SKIP() << "giving a directory away is not permitted here";
  EXPECT_THAT(reason(place_in(temp.path())),
              HasSubstr("belongs to user 12345, expected"));
}

// Whoever may rename a directory may put another one in its place.
TEST(PrivateDirectory, BelowOneThatOthersCanReplaceIsRefused) {
  const TempDirectory temp;
  const std::string open = temp.path() + "/open";
  ASSERT_TRUE(std::filesystem::create_directories(open + "/below"));
  ASSERT_EQ(::chmod(open.c_str(), 0777), 0);
  for (const std::string& parent : {open, open + "/below"}) {
    EXPECT_THAT(reason(place_in(parent)),
                HasSubstr("'" + open + "' may be written to by everybody"));
    EXPECT_TRUE(std::filesystem::is_empty(open + "/below"));
  }
  // As /tmp is.
  ASSERT_EQ(::chmod(open.c_str(), 01777), 0);
  EXPECT_TRUE(place_in(open));
  // A group's rights are its administrator's decision.
  ASSERT_EQ(::chmod(open.c_str(), 0775), 0);
  EXPECT_TRUE(place_in(open));
  // A link does not hide what it leads through.
  ASSERT_EQ(::chmod(open.c_str(), 0777), 0);
  const std::string link = temp.path() + "/link";
  ASSERT_EQ(::symlink((open + "/below").c_str(), link.c_str()), 0);
  EXPECT_THAT(reason(place_in(link)), HasSubstr("may be written to by"));
  if (::chmod(open.c_str(), 0755) != 0 || ::chown(open.c_str(), 12345, 0) != 0)
    GTEST_SKIP() << "giving a directory away is not permitted here";
  EXPECT_THAT(reason(place_in(open + "/below")),
              HasSubstr("'" + open + "' belongs to user 12345"));
}

TEST(PrivateDirectory, OfOursThatOthersMayEnterIsClosedToThem) {
  const TempDirectory temp;
  ASSERT_EQ(::mkdir(temp.inner().c_str(), 0700), 0);
  ASSERT_EQ(::chmod(temp.inner().c_str(), 0777), 0);
  const auto file = place_in(temp.path());
  ASSERT_TRUE(file) << file.error();
  EXPECT_EQ(mode_of(temp.inner()), 0700u);
}

TEST(TempDirectoryOption, MayBeRelativeOrASymbolicLinkOrHaveSpaces) {
  const TempDirectory temp;
  const std::string spaced = temp.path() + "/a b/c";
  ASSERT_TRUE(std::filesystem::create_directories(spaced));
  ASSERT_EQ(::symlink(spaced.c_str(), (temp.path() + "/link").c_str()), 0);
  EXPECT_TRUE(place_in(spaced));
  EXPECT_TRUE(place_in(temp.path() + "/link"));
  EXPECT_EQ(in_child([&] {
              if (::chdir(temp.path().c_str()) != 0) return 1;
              const auto file = place_in("a b/c/");
              return file && file->path().starts_with(spaced + "/berth-") ? 0
                                                                          : 2;
            }),
            0);
}

TEST(TempDirectoryOption, ThatIsMissingOrTooLongIsNamed) {
  const std::string missing = "/nowhere/at/all";
  const auto none = place_in(missing);
  EXPECT_THAT(reason(none), HasSubstr(missing));
  EXPECT_THAT(reason(none), HasSubstr("No such file or directory"));
  EXPECT_EQ(none.error().code(), Code::kSystem);
  EXPECT_THAT(reason(place_in("/" + std::string(300, 'x'))),
              HasSubstr("File name too long"));
  std::string deep;
  while (deep.size() < 5000) deep += "/deeper";
  EXPECT_THAT(reason(place_in(deep)), HasSubstr("/deeper/berth-"));
}

TEST(Candidates, AreTriedInTurnAndAllNamedWhenNoneWorks) {
  const TempDirectory temp;
  const int end = in_child([&] {
    ::setenv("BERTH_TMPDIR", "/nowhere/first", 1);
    ::setenv("TMPDIR", temp.path().c_str(), 1);
    const auto file = place_in("");
    if (!file || !file->path().starts_with(temp.inner())) return 1;
    ::setenv("TMPDIR", "/nowhere/second", 1);
    const testing::ScopedOs scope;
    os().mkdir = [](const char*, mode_t) {
      errno = EROFS;
      return -1;
    };
    const std::string all = reason(place_in(""));
    for (const char* part : {"/nowhere/first/", "/nowhere/second/", "'/tmp/",
                             "Read-only file system"})
      if (all.find(part) == std::string::npos) return 2;
    return 0;
  });
  EXPECT_EQ(end, 0);
}

TEST(ReadOnlyDirectory, IsAnErrorThatSaysSo) {
  const TempDirectory temp;
  const int end = in_child([&] {
    if (!mount_small(temp.path(), MS_RDONLY)) return kNotPermitted;
    return reason(place_in(temp.path())).find("Read-only") != std::string::npos
               ? 0
               : 1;
  });
  if (end == kNotPermitted) GTEST_SKIP() << "mounting is not permitted here";
  EXPECT_EQ(end, 0);
}

TEST(NoexecMount, IsRefusedBeforeTheLoaderSeesIt) {
  const TempDirectory temp;
  const int end = in_child([&] {
    if (!mount_small(temp.path(), MS_NOEXEC)) return kNotPermitted;
    return reason(place_in(temp.path())).find("noexec") != std::string::npos
               ? 0
               : 1;
  });
  if (end == kNotPermitted) GTEST_SKIP() << "mounting is not permitted here";
  EXPECT_EQ(end, 0);
}

}  // namespace
}  // namespace berth::library
