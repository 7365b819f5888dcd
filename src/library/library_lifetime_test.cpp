// How a Library ends: with its threads, with its process, and not at all.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <latch>
#include <memory>
#include <thread>

#include "library/library.h"
#include "library/library_fakes.h"
#include "library/library_testing.h"

namespace berth::library {
namespace {

using ::testing::ElementsAre;
using testing::files_below;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::mapping_count;
using testing::open_fake;
using testing::TempDirectory;

// A library that counts, in `destroyed`, the ends of its thread_locals.
struct Counted {
  explicit Counted(const TempDirectory& temp)
      : library(open_fake("library_answers_1", temp.path())) {
    if (!library) {
      ADD_FAILURE() << library.error();
      return;
    }
    library->find_symbol<void(int*)>("report_destroyed")(&destroyed);
    touch = library->find_symbol<void()>("touch_thread");
  }

  Result<Library> library;
  void (*touch)() = nullptr;
  int destroyed = 0;
};

TEST(Close, UnmapsWhileTheThreadThatRanTheLibraryLivesOn) {
  const TempDirectory temp;
  Counted counted(temp);
  ASSERT_NE(counted.touch, nullptr);
  std::promise<void> touched;
  std::promise<void> end;
  std::thread thread([&] {
    counted.touch();
    touched.set_value();
    end.get_future().wait();
  });
  touched.get_future().wait();
  counted.touch();
  EXPECT_GT(mapping_count(counted.library->path()), 0u);
  const Status closed = counted.library->close();
  EXPECT_TRUE(closed) << closed.error();
  EXPECT_EQ(mapping_count(counted.library->path()), 0u);
  EXPECT_EQ(counted.destroyed, 2) << "the closer ends what threads left";
  EXPECT_TRUE(pinned().empty());
  end.set_value();
  thread.join();
  EXPECT_EQ(counted.destroyed, 2);
}

TEST(Close, FindsNothingLeftOfAThreadThatEndedBefore) {
  const TempDirectory temp;
  Counted counted(temp);
  ASSERT_NE(counted.touch, nullptr);
  std::thread(counted.touch).join();
  EXPECT_EQ(counted.destroyed, 1);
  EXPECT_TRUE(counted.library->close());
  EXPECT_EQ(counted.destroyed, 1);
  EXPECT_EQ(mapping_count(temp.path()), 0u);
}

TEST(Close, RacesWithTheEndsOfTwoHundredThreads) {
  const TempDirectory temp;
  Counted counted(temp);
  ASSERT_NE(counted.touch, nullptr);
  constexpr int kThreads = 200;
  std::latch touched(kThreads);
  std::atomic<bool> closed = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      counted.touch();
      touched.count_down();
      while (i % 2 == 0 && !closed)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  }
  touched.wait();
  const Status status = counted.library->close();
  EXPECT_TRUE(status) << status.error();
  EXPECT_EQ(mapping_count(temp.path()), 0u);
  closed = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counted.destroyed, kThreads);
}

TEST(Close, EndsTheThreadLocalsOfItsOwnLibraryOnly) {
  const TempDirectory temp;
  Counted first(temp);
  Counted second(temp);
  ASSERT_TRUE(first.touch != nullptr && second.touch != nullptr);
  std::thread([&] {
    first.touch();
    second.touch();
    EXPECT_TRUE(first.library->close());
    EXPECT_EQ(first.destroyed, 1);
    EXPECT_EQ(second.destroyed, 0);
  }).join();
  EXPECT_EQ(second.destroyed, 1);
}

// Threads of a pool, which nobody joins: OpenMP keeps its own for good, so this
// is a child, of which they are no part of what other tests fork.
TEST(Close, UnmapsWhileTheWorkersOfOpenMpLiveOn) {
  const TempDirectory temp;
  const auto rounds = [&] {
    for (int round = 0; round < 20; ++round) {
      static int destroyed;
      destroyed = 0;
      auto library = open_fake("library_workers", temp.path());
      if (!library) return 1;
      library->find_symbol<void(int*)>("report_destroyed")(&destroyed);
      const int touched = library->find_symbol<int(int)>("touch_workers")(4);
      if (touched < 2) return 2;
      if (!library->close()) return 3;
      if (destroyed != touched) return 4;
      if (mapping_count(temp.path()) != 0) return 5;
    }
    return 0;
  };
  EXPECT_EQ(testing::in_child(rounds), 0);
}

TEST(Close, UnmapsWhileADetachedThreadLivesOn) {
  const TempDirectory temp;
  Counted counted(temp);
  ASSERT_NE(counted.touch, nullptr);
  // Shared with the thread, which outlives the test's own frame.
  struct Signals {
    std::promise<void> touched;
    std::promise<void> end;
    std::promise<void> ended;
  };
  auto signals = std::make_shared<Signals>();
  std::thread([signals, touch = counted.touch] {
    touch();
    signals->touched.set_value();
    signals->end.get_future().wait();
    signals->ended.set_value();
  }).detach();
  signals->touched.get_future().wait();
  EXPECT_TRUE(counted.library->close());
  EXPECT_EQ(counted.destroyed, 1);
  EXPECT_EQ(mapping_count(temp.path()), 0u);
  signals->end.set_value();
  signals->ended.get_future().wait();
  EXPECT_EQ(counted.destroyed, 1);
}

// A thread that no C++ code made, ended from within.
TEST(Close, FindsNothingLeftOfAPosixThreadThatWasCancelledOrExited) {
  const TempDirectory temp;
  Counted counted(temp);
  ASSERT_NE(counted.touch, nullptr);
  static void (*touch)();
  touch = counted.touch;
  const auto exits = [](void*) -> void* {
    touch();
    ::pthread_exit(nullptr);
  };
  const auto waits = [](void*) -> void* {
    touch();
    for (;;) ::pause();
  };
  pthread_t exited{};
  ASSERT_EQ(::pthread_create(&exited, nullptr, exits, nullptr), 0);
  ::pthread_join(exited, nullptr);
  EXPECT_EQ(counted.destroyed, 1);
  // ThreadSanitizer loses track of the locks of a thread that is cancelled in a
  // call that it intercepts.
  if (!testing::kThreadSanitizer) {
    pthread_t cancelled{};
    ASSERT_EQ(::pthread_create(&cancelled, nullptr, waits, nullptr), 0);
    ASSERT_EQ(::pthread_cancel(cancelled), 0);
    ::pthread_join(cancelled, nullptr);
  }
  const int before = counted.destroyed;
  EXPECT_GE(before, 1) << "a cancel may come before the touch";
  EXPECT_TRUE(counted.library->close());
  EXPECT_EQ(counted.destroyed, before);
  EXPECT_EQ(mapping_count(temp.path()), 0u);
}

TEST(Close, DropsWhatStaticDestructorsLeaveToTheThread) {
  const TempDirectory temp;
  static int destroyed = 0;
  std::thread([&] {
    auto library = open_fake("library_late_exit", temp.path());
    ASSERT_TRUE(library) << library.error();
    library->find_symbol<void(int*)>("report_destroyed")(&destroyed);
    EXPECT_TRUE(library->close());
    EXPECT_EQ(mapping_count(temp.path()), 0u);
  }).join();  // Would jump into the unmapped library.
  EXPECT_EQ(destroyed, 0);
}

TEST(Close, RepeatedThreeHundredTimesLeavesNothing) {
  const TempDirectory temp;
  std::size_t descriptors = 0;
  for (int i = 0; i < 300; ++i) {
    Counted counted(temp);
    ASSERT_NE(counted.touch, nullptr);
    counted.touch();
    ASSERT_TRUE(counted.library->close());
    if (i == 0) descriptors = testing::descriptor_count();
  }
  EXPECT_EQ(testing::descriptor_count(), descriptors);
  EXPECT_EQ(mapping_count(temp.path()), 0u);
  EXPECT_THAT(files_below(temp.path()), IsEmpty());
}

TEST(PinnedLibrary, IsReportedAndItsFileRemoved) {
  const TempDirectory temp;
  auto library = open_fake("library_answers_1", temp.path());
  ASSERT_TRUE(library) << library.error();
  // Somebody else, a profiler for example, holds it too.
  void* other = ::dlopen(library->path().c_str(), RTLD_NOW);
  ASSERT_NE(other, nullptr);
  const Status closed = library->close();
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code(), Code::kInternal);
  EXPECT_THAT(closed.error().to_string(), HasSubstr("stayed mapped"));
  ASSERT_EQ(pinned().size(), 1u);
  EXPECT_EQ(pinned()[0].path, library->path());
  EXPECT_THAT(pinned()[0].reason, HasSubstr("somebody else holds it"));
  EXPECT_THAT(files_below(temp.path()), IsEmpty());
  EXPECT_THAT(testing::loaded_paths(), IsEmpty());
  // The next one is not taken for it.
  auto next = open_fake("library_answers_2", temp.path());
  ASSERT_TRUE(next) << next.error();
  EXPECT_EQ(next->find_symbol<int()>("answer")(), 2);
  ::dlclose(other);
  EXPECT_TRUE(pinned().empty()) << "it has gone meanwhile";
}

// Fault: a destructor left with the C library keeps a library mapped.
TEST(PinnedLibrary, IsSaidToWaitForItsThreadsWhereItDoes) {
  const TempDirectory temp;
  auto library = open_fake("library_pins", temp.path());
  ASSERT_TRUE(library) << library.error();
  std::promise<void> left;
  std::promise<void> end;
  std::thread thread([&] {
    library->find_symbol<void()>("leave_to_the_c_library")();
    left.set_value();
    end.get_future().wait();
  });
  left.get_future().wait();
  const Status closed = library->close();
  ASSERT_FALSE(closed);
  EXPECT_THAT(closed.error().to_string(),
              HasSubstr("until those threads have ended"));
  ASSERT_EQ(pinned().size(), 1u);
  end.set_value();
  thread.join();
  // The loader looks around when the next one goes.
  EXPECT_TRUE(open_fake("library_answers_1", temp.path())->close());
  EXPECT_TRUE(pinned().empty());
}

TEST(ProcessExit, InTheMiddleOfARunRemovesTheFile) {
  const TempDirectory temp;
  const auto run = [&] {
    auto library = open_fake("library_answers_1", temp.path());
    if (!library || files_below(temp.path()).size() != 1) return 1;
    library->find_symbol<void()>("touch_thread")();
    library->find_symbol<void(void (*)())>("call_back")([] { std::exit(7); });
    return 2;
  };
  EXPECT_EQ(testing::in_child(run), 7);
  EXPECT_THAT(files_below(temp.path()), IsEmpty());
}

TEST(ProcessExit, OfAForkedChildLeavesTheParentsLibraryAlone) {
  const TempDirectory temp;
  Counted counted(temp);
  ASSERT_NE(counted.touch, nullptr);
  counted.touch();
  const auto close_and_exit = [&]() -> int {
    const bool closed = counted.library->close().has_value();
    std::exit(closed && counted.destroyed == 1 ? 0 : 1);
  };
  EXPECT_EQ(testing::in_child(close_and_exit), 0);
  EXPECT_THAT(files_below(temp.path()), ElementsAre(counted.library->path()));
  EXPECT_EQ(counted.library->find_symbol<int()>("answer")(), 1);
  EXPECT_EQ(counted.destroyed, 0);
}

}  // namespace
}  // namespace berth::library
