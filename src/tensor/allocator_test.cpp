#include "tensor/allocator.h"

#include <gmock/gmock.h>

#include <cstring>
#include <limits>
#include <thread>
#include <vector>

namespace berth::tensor {
namespace {

TEST(Allocator, AlignsAndGivesAllThatWasAskedFor) {
  for (std::size_t bytes = 0; bytes < 5000; bytes += 7) {
    void* block = allocate(bytes);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % kAlignment, 0u);
    std::memset(block, 0xAB, bytes);  // AddressSanitizer would object.
    release(block, bytes);
  }
}

TEST(Allocator, EveryClassHoldsItsSizes) {
  // One byte around each power of two, where classes are easily off by one.
  for (std::size_t power = 64; power <= (std::size_t{32} << 20); power *= 2) {
    for (const std::size_t bytes : {power - 1, power, power + 1}) {
      auto* block = static_cast<char*>(allocate(bytes));
      ASSERT_NE(block, nullptr);
      block[0] = 1;
      block[bytes - 1] = 1;
      release(block, bytes);
    }
  }
  trim();
}

TEST(Allocator, TheSteadyStateAsksTheSystemForNothing) {
  const auto run = [] {
    std::vector<std::pair<void*, std::size_t>> blocks;
    for (const std::size_t bytes : {64, 200, 4096, 70'000, 3'000'000})
      blocks.emplace_back(allocate(bytes), bytes);
    for (const auto& [block, bytes] : blocks) release(block, bytes);
  };
  run();
  const std::uint64_t before = system_allocation_count();
  for (int i = 0; i < 100; ++i) run();
  EXPECT_EQ(system_allocation_count(), before);
}

TEST(Allocator, WhatIsLiveIsNeverGivenTwice) {
  void* a = allocate(100);
  void* b = allocate(100);
  EXPECT_NE(a, b);
  release(a, 100);
  EXPECT_EQ(allocate(100), a);
  release(a, 100);
  release(b, 100);
}

TEST(Allocator, TrimGivesBackWhatWasKept) {
  trim();
  release(allocate(1 << 20), 1 << 20);
  release(allocate(1000), 1000);
  EXPECT_GE(trim(), (1u << 20) + 1000u);
  EXPECT_EQ(trim(), 0u);
  const std::uint64_t before = system_allocation_count();
  release(allocate(1000), 1000);
  EXPECT_EQ(system_allocation_count(), before + 1);
}

TEST(Allocator, KeepsNoMoreThanItsBound) {
  trim();
  constexpr std::size_t kBlock = std::size_t{64} << 20;
  std::vector<void*> blocks;
  for (int i = 0; i < 6; ++i) blocks.push_back(allocate(kBlock));
  for (void* block : blocks) release(block, kBlock);
  EXPECT_LE(trim(), std::size_t{256} << 20);
}

TEST(Allocator, ABlockMayBeReleasedOnAnotherThread) {
  trim();
  std::vector<void*> blocks;
  for (int i = 0; i < 1000; ++i) blocks.push_back(allocate(256));
  std::thread([&] {
    for (void* block : blocks) release(block, 256);
  }).join();
  // The thread's end handed them to the pool, where this thread finds them.
  const std::uint64_t before = system_allocation_count();
  for (void*& block : blocks) block = allocate(256);
  EXPECT_EQ(system_allocation_count(), before);
  for (void* block : blocks) release(block, 256);
}

TEST(Allocator, ThreadsDoNotDisturbEachOther) {
  const auto work = [](unsigned char mark) {
    for (int i = 0; i < 2000; ++i) {
      const std::size_t bytes = 64 + static_cast<std::size_t>(i) * 37 % 100'000;
      auto* block = static_cast<unsigned char*>(allocate(bytes));
      block[0] = block[bytes - 1] = mark;
      EXPECT_EQ(block[0], mark);
      EXPECT_EQ(block[bytes - 1], mark);
      release(block, bytes);
    }
  };
  std::thread a(work, static_cast<unsigned char>(1));
  std::thread b(work, static_cast<unsigned char>(2));
  a.join();
  b.join();
}

TEST(Allocator, MoreThanThereIsIsNull) {
  EXPECT_EQ(allocate(std::numeric_limits<std::size_t>::max()), nullptr);
  EXPECT_EQ(allocate((std::size_t{1} << 46) + 1), nullptr);
}

// An object that outlives the thread's cache, since it was made before it.
struct ReleasesLate {
  void* block = nullptr;
  ~ReleasesLate() { release(block, 128); }
};

TEST(Allocator, WorksInDestructorsThatRunAfterTheThreadsCache) {
  std::thread([] {
    thread_local ReleasesLate late;
    late.block = nullptr;  // Constructs it, and so orders it before the cache.
    late.block = allocate(128);
  }).join();
}

}  // namespace
}  // namespace berth::tensor
