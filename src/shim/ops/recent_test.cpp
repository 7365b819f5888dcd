// What is kept, what is forgotten first, and who keeps it alive.
#include "shim/ops/recent.h"

#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace berth::shim {
namespace {

using Names = Recent<int, std::string, std::hash<int>>;

std::shared_ptr<const std::string> name(const char* text) {
  return std::make_shared<const std::string>(text);
}

TEST(Recent, ForgetsWhatWasNotUsedForLongest) {
  Names names(2);
  names.keep(1, name("one"));
  names.keep(2, name("two"));
  ASSERT_NE(names.find(1), nullptr);
  names.keep(3, name("three"));
  EXPECT_EQ(names.size(), 2u);
  EXPECT_EQ(names.find(2), nullptr);
  EXPECT_EQ(*names.find(1), "one");
  EXPECT_EQ(*names.find(3), "three");
}

TEST(Recent, KeepsTheFirstOfTwo) {
  Names names(2);
  names.keep(1, name("one"));
  names.keep(1, name("another"));
  EXPECT_EQ(*names.find(1), "one");
  EXPECT_EQ(names.size(), 1u);
}

TEST(Recent, LeavesWhatIsInUseToItsUser) {
  Names names(1);
  names.keep(1, name("one"));
  const auto mine = names.find(1);
  names.keep(2, name("two"));
  EXPECT_EQ(names.find(1), nullptr);
  EXPECT_EQ(*mine, "one");
}

TEST(Recent, MayBeUsedByManyThreads) {
  Names names(8);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&names, i] {
      for (int key = 0; key < 200; ++key) {
        if (names.find(key % 16) == nullptr) names.keep(key % 16, name("some"));
        if (i == 0 && key % 50 == 0) std::this_thread::yield();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(names.size(), 8u);
}

}  // namespace
}  // namespace berth::shim
