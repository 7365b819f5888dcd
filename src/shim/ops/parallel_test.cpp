#include "shim/ops/parallel.h"

#include <gmock/gmock.h>

#include <thread>
#include <vector>

namespace berth::shim {
namespace {

TEST(Parallel, DoesEachTaskOnce) {
  for (const int threads : {1, 2, 7}) {
    std::vector<int> done(1000);
    share_tasks(1000, threads, [&](int thread, std::int64_t task) {
      EXPECT_LT(thread, threads);
      ++done[static_cast<std::size_t>(task)];
    });
    EXPECT_THAT(done, testing::Each(1));
  }
}

TEST(Parallel, DoesNothingForNoTasks) {
  share_tasks(0, 2, [](int, std::int64_t) { ADD_FAILURE(); });
  share_tasks(0, 1, [](int, std::int64_t) { ADD_FAILURE(); });
}

TEST(Parallel, TakesNoMoreThreadsInsideAParallelRegion) {
  EXPECT_EQ(thread_count(0), 1);
  EXPECT_EQ(thread_count(1), 1);
  EXPECT_GE(thread_count(1000), 1);
  std::vector<int> inside(2);
  share_tasks(2, 2, [&](int, std::int64_t task) {
    inside[static_cast<std::size_t>(task)] = thread_count(1000);
  });
  EXPECT_THAT(inside, testing::Each(1));
}

TEST(Parallel, ServesSeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      std::vector<int> done(500);
      share_tasks(500, 2, [&](int, std::int64_t task) {
        ++done[static_cast<std::size_t>(task)];
      });
      EXPECT_THAT(done, testing::Each(1));
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace berth::shim
