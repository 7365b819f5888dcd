#include "model/replica_pool.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <set>
#include <thread>

namespace berth::model {
namespace {

using ::testing::HasSubstr;

// Waits until `condition` holds, which another thread is about to cause.
template <typename Condition>
void until(Condition&& condition) {
  while (!condition()) std::this_thread::yield();
}

TEST(ReplicaPool, HandsOutEachReplicaOnce) {
  ReplicaPool pool(3, WhenBusy::kFail);
  std::set<std::size_t> indices;
  std::vector<ReplicaPool::Lease> leases;
  for (int i = 0; i < 3; ++i) {
    auto lease = pool.acquire();
    ASSERT_TRUE(lease.has_value()) << lease.error();
    indices.insert(lease->index());
    leases.push_back(std::move(*lease));
  }
  EXPECT_EQ(indices, (std::set<std::size_t>{0, 1, 2}));
  const auto none = pool.acquire();
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code(), Code::kBusy);
  EXPECT_THAT(none.error().to_string(), HasSubstr("the model has 3"));
  leases.pop_back();
  EXPECT_TRUE(pool.acquire().has_value());
}

TEST(ReplicaPool, TheOneThatCameBackLastIsTheNext) {
  ReplicaPool pool(3, WhenBusy::kFail);
  auto first = pool.acquire();
  std::optional<ReplicaPool::Lease> second(std::move(*pool.acquire()));
  const std::size_t index = second->index();
  second.reset();
  EXPECT_EQ(pool.acquire()->index(), index);
}

TEST(ReplicaPool, ALeaseThatMovedComesBackOnce) {
  ReplicaPool pool(1, WhenBusy::kFail);
  {
    auto lease = pool.acquire();
    const ReplicaPool::Lease moved(std::move(*lease));
    EXPECT_FALSE(pool.acquire().has_value());
  }
  const auto only = pool.acquire();
  ASSERT_TRUE(only.has_value());
  EXPECT_FALSE(pool.acquire().has_value());
}

TEST(ReplicaPool, WhoWaitsGetsWhatComesBack) {
  ReplicaPool pool(1, WhenBusy::kWait);
  std::optional<ReplicaPool::Lease> lease(std::move(*pool.acquire()));
  std::atomic<bool> got = false;
  std::thread waiter([&] {
    EXPECT_TRUE(pool.acquire().has_value());
    got = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(got);
  lease.reset();
  waiter.join();
  EXPECT_TRUE(got);
}

TEST(ReplicaPool, NoReplicaIsLostOrHadByTwo) {
  constexpr std::size_t kReplicas = 3;
  for (const WhenBusy when_busy : {WhenBusy::kWait, WhenBusy::kFail}) {
    ReplicaPool pool(kReplicas, when_busy);
    std::atomic<int> users[kReplicas] = {};
    std::atomic<int> clashes = 0;
    std::atomic<int> others = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 2000; ++i) {
          const auto lease = pool.acquire();
          if (!lease) {
            others += when_busy == WhenBusy::kWait ||
                      lease.error().code() != Code::kBusy;
            continue;
          }
          clashes += users[lease->index()].fetch_add(1) != 0;
          if (i % 16 == 0) std::this_thread::yield();
          users[lease->index()].fetch_sub(1);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(clashes, 0);
    EXPECT_EQ(others, 0);
    std::vector<ReplicaPool::Lease> all;
    for (std::size_t i = 0; i < kReplicas; ++i)
      all.push_back(std::move(*pool.acquire()));
  }
}

TEST(ReplicaPool, CloseWaitsForTheLastLease) {
  ReplicaPool pool(2, WhenBusy::kWait);
  std::optional<ReplicaPool::Lease> lease(std::move(*pool.acquire()));
  std::atomic<bool> closed = false;
  // Two at once: both return when all is back.
  std::vector<std::thread> closers;
  for (int i = 0; i < 2; ++i) {
    closers.emplace_back([&] {
      pool.close();
      closed = true;
    });
  }
  // One replica is free, and is refused as soon as the pool closes.
  until([&] { return !pool.acquire().has_value(); });
  EXPECT_FALSE(closed);
  lease.reset();
  for (std::thread& closer : closers) closer.join();
  EXPECT_TRUE(closed);
  pool.close();
}

TEST(ReplicaPool, CloseEndsTheWaitWithAnError) {
  ReplicaPool pool(1, WhenBusy::kWait);
  std::optional<ReplicaPool::Lease> lease(std::move(*pool.acquire()));
  std::vector<std::thread> waiters;
  std::atomic<int> refused = 0;
  for (int i = 0; i < 4; ++i) {
    waiters.emplace_back([&] {
      const auto none = pool.acquire();
      refused += !none && none.error().code() == Code::kInvalidArgument &&
                 none.error().message() == "the model is closed";
    });
  }
  std::thread closer([&] { pool.close(); });
  // The lease is still out: it is the closing that ends the wait.
  for (std::thread& waiter : waiters) waiter.join();
  EXPECT_EQ(refused, 4);
  lease.reset();
  closer.join();
}

}  // namespace
}  // namespace berth::model
