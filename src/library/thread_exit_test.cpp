#include "library/thread_exit.h"

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <latch>
#include <mutex>
#include <thread>
#include <vector>

#include "library/library_testing.h"

namespace berth::library {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

// Stands in for a mapped library: only its addresses matter here.
struct FakeLibrary {
  std::array<char, 16> bytes{};

  void* dso_handle() { return &bytes[8]; }
  AddressRange range() const {
    const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
    return {begin, begin + bytes.size()};
  }
  void close() const { run_thread_exits(range()); }
};

std::mutex order_mutex;
std::vector<int> order;

void reset() { order.clear(); }

void note(void* object) {
  const std::lock_guard lock(order_mutex);
  order.push_back(*static_cast<int*>(object));
}

int numbers[] = {0, 1, 2, 3, 4};

void enter(FakeLibrary& library, int number) {
  ASSERT_EQ(berth_thread_atexit(note, &numbers[number], library.dso_handle()),
            0);
}

TEST(AddressRange, ContainsItsFirstByteAndNotItsEnd) {
  FakeLibrary library;
  EXPECT_TRUE(library.range().contains(library.bytes.data()));
  EXPECT_TRUE(library.range().contains(&library.bytes[15]));
  EXPECT_FALSE(library.range().contains(library.bytes.data() + 16));
  EXPECT_FALSE(AddressRange{}.contains(nullptr));
}

TEST(ThreadExit, RunsTheLatestFirstWhenTheThreadEnds) {
  reset();
  FakeLibrary library;
  std::thread([&] {
    enter(library, 1);
    enter(library, 2);
    enter(library, 3);
    EXPECT_THAT(order, IsEmpty());
  }).join();
  EXPECT_THAT(order, ElementsAre(3, 2, 1));
  library.close();
  EXPECT_THAT(order, ElementsAre(3, 2, 1)) << "nothing may run twice";
}

TEST(ThreadExit, RunsWhatOneLibraryLeftWhenItIsClosed) {
  reset();
  FakeLibrary library;
  FakeLibrary other;
  std::thread([&] {
    enter(library, 1);
    enter(other, 2);
    enter(library, 3);
    library.close();
    EXPECT_THAT(order, ElementsAre(3, 1));
  }).join();
  EXPECT_THAT(order, ElementsAre(3, 1, 2));
}

TEST(ThreadExit, OfAThreadThatLivesOnIsRunByTheCloser) {
  reset();
  FakeLibrary library;
  std::promise<void> entered;
  std::promise<void> closed;
  std::thread thread([&] {
    enter(library, 1);
    entered.set_value();
    closed.get_future().wait();
  });
  entered.get_future().wait();
  library.close();
  EXPECT_THAT(order, ElementsAre(1));
  closed.set_value();
  thread.join();
  EXPECT_THAT(order, ElementsAre(1)) << "the thread has nothing left to run";
}

TEST(ThreadExit, RunsWhatADestructorRegisters) {
  reset();
  static FakeLibrary library;
  const auto chain = [](void* object) {
    note(object);
    enter(library, 4);
  };
  std::thread([&] {
    berth_thread_atexit(chain, &numbers[1], library.dso_handle());
  }).join();
  EXPECT_THAT(order, ElementsAre(1, 4));
  reset();
  berth_thread_atexit(chain, &numbers[1], library.dso_handle());
  library.close();
  EXPECT_THAT(order, ElementsAre(1, 4));
}

// Registers when the thread's own thread_locals are destroyed.
struct RegistersLate {
  FakeLibrary* library = nullptr;
  ~RegistersLate() { enter(*library, 2); }
};

TEST(ThreadExit, RunsWhatIsRegisteredAfterItsOwnTurn) {
  reset();
  static FakeLibrary library;
  std::thread([] {
    // Destroyed after Berth's own hook, which is registered later.
    thread_local RegistersLate late;
    late.library = &library;
    enter(library, 1);
  }).join();
  EXPECT_THAT(order, ElementsAre(1, 2));
}

// A destructor that holds its thread until the test lets it go.
struct Gate {
  std::promise<void> reached;
  std::promise<void> opened;
  std::atomic<bool> passed = false;

  static void destroy(void* object) {
    auto* gate = static_cast<Gate*>(object);
    gate->reached.set_value();
    gate->opened.get_future().wait();
    gate->passed = true;
  }
};

TEST(Close, WaitsForADestructorThatAnEndingThreadRuns) {
  FakeLibrary library;
  Gate gate;
  std::thread ending(
      [&] { berth_thread_atexit(Gate::destroy, &gate, library.dso_handle()); });
  gate.reached.get_future().wait();
  auto closing = std::async(std::launch::async, [&] {
    library.close();
    return gate.passed.load();
  });
  EXPECT_EQ(closing.wait_for(50ms), std::future_status::timeout);
  gate.opened.set_value();
  EXPECT_TRUE(closing.get());
  ending.join();
}

TEST(Close, DoesNotWaitForAnotherLibrarysDestructor) {
  FakeLibrary library;
  FakeLibrary other;
  Gate gate;
  std::thread ending(
      [&] { berth_thread_atexit(Gate::destroy, &gate, other.dso_handle()); });
  gate.reached.get_future().wait();
  library.close();
  gate.opened.set_value();
  ending.join();
}

TEST(EndingThread, WaitsForItsObjectsDestructorInTheCloser) {
  FakeLibrary library;
  Gate gate;
  std::promise<void> entered;
  std::promise<void> end;
  std::atomic<bool> passed_at_end = false;
  auto thread = std::async(std::launch::async, [&] {
    std::thread inner([&] {
      berth_thread_atexit(Gate::destroy, &gate, library.dso_handle());
      entered.set_value();
      end.get_future().wait();
    });
    inner.join();
    passed_at_end = gate.passed.load();
  });
  entered.get_future().wait();
  std::thread closer([&] { library.close(); });
  gate.reached.get_future().wait();
  end.set_value();
  EXPECT_EQ(thread.wait_for(50ms), std::future_status::timeout);
  gate.opened.set_value();
  thread.get();
  closer.join();
  EXPECT_TRUE(passed_at_end);
}

TEST(ThreadExit, HappensOnceForEachOfManyThreadsThatRaceWithClose) {
  for (int round = 0; round < 5; ++round) {
    FakeLibrary library;
    std::array<std::atomic<int>, 200> runs{};
    std::latch entered(runs.size());
    std::atomic<bool> closed = false;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      threads.emplace_back([&, i] {
        berth_thread_atexit(
            [](void* object) { ++*static_cast<std::atomic<int>*>(object); },
            &runs[i], library.dso_handle());
        entered.count_down();
        // Half end around the time of the close, half only after it.
        while (i % 2 == 0 && !closed) std::this_thread::sleep_for(1ms);
      });
    }
    entered.wait();
    library.close();
    closed = true;
    for (std::thread& thread : threads) thread.join();
    library.close();
    for (auto& run : runs) EXPECT_EQ(run, 1);
  }
}

TEST(IgnoredLibrary, LeavesNothingBehind) {
  reset();
  FakeLibrary library;
  FakeLibrary other;
  {
    const IgnoreThreadExits ignore(library.range());
    enter(library, 1);
    enter(other, 2);
    {
      const IgnoreThreadExits inner(other.range());
      enter(other, 3);
    }
    enter(library, 4);
  }
  library.close();
  other.close();
  EXPECT_THAT(order, ElementsAre(2));
}

TEST(ForkedChild, RunsItsOwnThreadsDestructorsOnly) {
  reset();
  FakeLibrary library;
  std::promise<void> entered;
  std::promise<void> done;
  std::thread other([&] {
    enter(library, 1);
    entered.set_value();
    done.get_future().wait();
  });
  entered.get_future().wait();
  enter(library, 2);
  EXPECT_EQ(testing::in_child([&] {
              library.close();
              return order == std::vector<int>{2} ? 0 : 1;
            }),
            0);
  library.close();
  EXPECT_EQ(order.size(), 2u);
  done.set_value();
  other.join();
}

}  // namespace
}  // namespace berth::library
