// What another user of the machine can do to the places where libraries are
// put: nothing that reaches a victim's files or a library's bytes.
#include <gmock/gmock.h>
#include <grp.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>

#include "library/library_fakes.h"
#include "library/library_testing.h"
#include "library/placement_testing.h"

namespace berth::library {
namespace {

namespace fs = std::filesystem;

using testing::files_below;
using ::testing::HasSubstr;
using testing::in_child;
using testing::TempDirectory;

constexpr uid_t kVictim = 12345;
constexpr uid_t kEnemy = 54321;

// Runs `body` in a child as that user.
int as_user(uid_t user, const std::function<int()>& body) {
  return in_child([&] {
    if (::setgroups(0, nullptr) != 0 || ::setgid(user) != 0 ||
        ::setuid(user) != 0)
      return 99;
    return body();
  });
}

// A directory that all may write to, a victim's file elsewhere, and what the
// victim does: load a library and call it.
class HostileUser : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can be two users";
    ASSERT_EQ(::chmod(temp_.path().c_str(), 0755), 0);
    ASSERT_EQ(::mkdir(open_.c_str(), 0755), 0);
    ASSERT_EQ(::chmod(open_.c_str(), 01777), 0);
    ASSERT_EQ(::mkdir(home_.c_str(), 0755), 0);
    testing::write_text(file_, "the victim's own");
    ASSERT_EQ(::chown(home_.c_str(), kVictim, kVictim), 0);
    ASSERT_EQ(::chown(file_.c_str(), kVictim, kVictim), 0);
    bytes_ = testing::read_fake("library_answers_1");
  }

  void TearDown() override {
    if (::geteuid() != 0) return;
    EXPECT_EQ(testing::read_text(file_), "the victim's own");
    EXPECT_EQ(files_below(home_).size(), 1u);
  }

  // 0: loaded from a file below `open_`; 10: in memory; 20: refused.
  int victim_loads(Placement placement, const std::string& reason = "") {
    return as_user(kVictim, [&] {
      ModelOptions options;
      options.temp_directory = open_;
      options.placement = placement;
      const auto library =
          Library::open(bytes_, testing::OpenHost(), {}, options);
      const std::string said = library ? library->image().fallback_reason()
                                       : library.error().to_string();
      if (said.find(reason) == std::string::npos) {
        std::fprintf(stderr, "said: %s\n", said.c_str());
        return 30;
      }
      if (!library) return 20;
      const auto answer = library->find_symbol<int()>("answer");
      if (answer == nullptr || answer() != 1) return 31;
      return library->image().in_memory() ? 10 : 0;
    });
  }

  std::string victims_directory() const {
    return open_ + "/berth-" + std::to_string(kVictim);
  }

  // The victim's directory, made by `user` and open to everybody.
  int make_open_directory(uid_t user) const {
    return as_user(user, [directory = victims_directory()] {
      return ::mkdir(directory.c_str(), 0777) |
             ::chmod(directory.c_str(), 0777);
    });
  }

  TempDirectory temp_;
  const std::string open_ = temp_.path() + "/open";
  const std::string home_ = temp_.path() + "/home";
  const std::string file_ = home_ + "/file";
  std::vector<std::byte> bytes_;
};

TEST_F(HostileUser, WhoDoesNothingDoesNotMatter) {
  EXPECT_EQ(victim_loads(Placement::kFile), 0);
  EXPECT_EQ(as_user(kEnemy,
                    [&] {
                      return ::access(victims_directory().c_str(),
                                      R_OK | X_OK) == 0;
                    }),
            0)
      << "the directory is open to others";
}

TEST_F(HostileUser, WhoMadeTheDirectoryFirstIsFoundOut) {
  ASSERT_EQ(make_open_directory(kEnemy), 0);
  EXPECT_EQ(victim_loads(Placement::kFile, "belongs to user 54321"), 20);
  EXPECT_EQ(victim_loads(Placement::kAutomatic, "belongs to user 54321"), 10);
  EXPECT_TRUE(fs::is_empty(victims_directory()));
}

TEST_F(HostileUser, WhoLinksTheDirectoryToTheVictimsOwnIsFoundOut) {
  ASSERT_EQ(as_user(kEnemy,
                    [&] {
                      return ::symlink(home_.c_str(),
                                       victims_directory().c_str());
                    }),
            0);
  EXPECT_EQ(victim_loads(Placement::kFile, "symbolic link"), 20);
  EXPECT_EQ(victim_loads(Placement::kAutomatic, "symbolic link"), 10);
}

TEST_F(HostileUser, WhoPlantedNamesInADirectoryLeftOpenIsPassedOver) {
  ASSERT_EQ(make_open_directory(kVictim), 0);
  // For every process that there may be, the first names of all.
  ASSERT_EQ(as_user(kEnemy,
                    [&] {
                      const int next = ::getpid();
                      for (int pid = next - 20; pid < next + 200; ++pid) {
                        for (int i = 0; i < 20; ++i) {
                          const std::string name = victims_directory() +
                                                   "/berth_" +
                                                   std::to_string(pid) + "_" +
                                                   std::to_string(i) + ".so";
                          if (::symlink(file_.c_str(), name.c_str()) != 0)
                            return 1;
                        }
                      }
                      return 0;
                    }),
            0);
  EXPECT_EQ(victim_loads(Placement::kFile), 0);
  EXPECT_EQ(testing::mode_of(victims_directory()), 0700u);
}

TEST_F(HostileUser, WhoCouldReplaceTheDirectoryIsNotTrusted) {
  // Writable by all and not sticky: whoever likes may rename what is in it.
  ASSERT_EQ(::chmod(open_.c_str(), 0777), 0);
  EXPECT_EQ(victim_loads(Placement::kFile, "anybody could replace"), 20);
  EXPECT_EQ(victim_loads(Placement::kAutomatic, "anybody could replace"), 10);
  // Or it is the enemy's own.
  ASSERT_EQ(::chown(open_.c_str(), kEnemy, kEnemy), 0);
  ASSERT_EQ(::chmod(open_.c_str(), 01777), 0);
  EXPECT_EQ(victim_loads(Placement::kFile, "belongs to user 54321"), 20);
  EXPECT_EQ(victim_loads(Placement::kAutomatic, "belongs to user 54321"), 10);
}

// A sweep removes only what is the sweeper's own and nobody's in use.
TEST_F(HostileUser, WhoPlantedASweepersTargetLosesNothingOfTheVictims) {
  ASSERT_EQ(make_open_directory(kVictim), 0);
  ASSERT_EQ(as_user(kEnemy,
                    [&] {
                      const std::string start =
                          victims_directory() + "/berth_1_";
                      // A second name of the victim's own file, where the
                      // kernel lets a stranger make one.
                      (void)::link(file_.c_str(), (start + "1.so").c_str());
                      return ::symlink(file_.c_str(), (start + "0.so").c_str());
                    }),
            0);
  EXPECT_EQ(victim_loads(Placement::kFile), 0);
}

}  // namespace
}  // namespace berth::library
