// What one library does is not seen by another: the statics that the compiler
// marks unique in the process, runs on many threads, threads that live on.
#include <gmock/gmock.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <latch>
#include <thread>

#include "berth/model.h"
#include "library/library_testing.h"
#include "support/delegates.h"
#include "support/models.h"

namespace berth::testing {
namespace {

class IsolationTest : public ::testing::Test {
 protected:
  TempDirectory temp_;
};

// Which of the two this process is, CTest says.
TEST_F(IsolationTest, LibtorchIsInTheProcessOrNot) {
  const bool is_here = library::testing::mapping_count("libtorch_cpu") > 0;
  EXPECT_EQ(is_here, std::getenv("BERTH_TEST_LIBTORCH") != nullptr);
}

// Every generated kernel keeps a pointer into its own stack in a variable of
// which g++ allows one per process. Unedited, two libraries share it: one that
// divides by zero while the other runs ends the process.
TEST_F(IsolationTest, ADivisionByZeroInOneIsNotSeenByTheOther) {
  auto failing = load_delegate("int_div");
  auto sound = load_delegate("int_div");
  ASSERT_TRUE(failing.has_value() && sound.has_value());
  const auto inputs = tensors("int_div", "in");
  const std::vector<Tensor> zeros = dividing_by_zero();
  constexpr int kRuns = 3000;
  std::atomic<int> caught = 0;
  std::atomic<int> spurious = 0;
  {
    const QuietStderr quiet;
    std::thread other([&] {
      for (int i = 0; i < kRuns; ++i) caught += !failing->run(zeros);
    });
    for (int i = 0; i < kRuns; ++i) spurious += !sound->run(inputs);
    other.join();
  }
  EXPECT_EQ(caught, kRuns);
  EXPECT_EQ(spurious, 0);
}

// The library's last error text is a thread_local with a destructor, which the
// C library's own __cxa_thread_atexit would keep it mapped for.
TEST_F(IsolationTest, ALibraryGoesWhileTheThreadThatFailedInItLivesOn) {
  const Footprint before = Footprint::now(temp_.path());
  auto model = load_delegate("int_div");
  ASSERT_TRUE(model.has_value()) << model.error();
  const std::vector<Tensor> zeros = dividing_by_zero();
  const std::size_t handles = Footprint::now(temp_.path()).handles;

  std::promise<void> ran;
  std::promise<void> closed;
  std::thread runner([&] {
    const QuietStderr quiet;
    EXPECT_FALSE(model->run(zeros).has_value());
    ran.set_value();
    closed.get_future().wait();
  });
  ran.get_future().wait();
  const Status status = model->close();
  EXPECT_TRUE(status.has_value()) << status.error();
  const Footprint after = Footprint::now(temp_.path());
  EXPECT_EQ(after.mappings, before.mappings);
  EXPECT_EQ(after.files, before.files);
  EXPECT_EQ(after.pinned, before.pinned);
  EXPECT_EQ(after.handles, handles);
  closed.set_value();
  runner.join();
}

class ManyThreads : public ::testing::TestWithParam<Placement> {
 protected:
  TempDirectory temp_;
};

INSTANTIATE_TEST_SUITE_P(Placements, ManyThreads,
                         ::testing::Values(Placement::kFile,
                                           Placement::kMemory),
                         [](const auto& param_info) {
                           return param_info.param == Placement::kFile
                                      ? "File"
                                      : "Memory";
                         });

// Fault: state that loads of several threads share.
TEST_P(ManyThreads, LoadRunAndDestroyAtOnce) {
  // Different ones, equal ones, and one of two replicas.
  const char* const names[] = {"mlp", "int_div", "mlp", "no_weights"};
  ModelOptions options;
  options.placement = GetParam();
  options.file_prefix = "threads";
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  std::latch start(16);
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, t, mine = options]() mutable {
      const std::string name = names[t % 4];
      mine.replicas = t == 0 ? 2 : 1;
      const auto inputs = tensors(name, "in");
      const auto expected = tensors(name, "out");
      start.arrive_and_wait();
      for (int round = 0; round < 5; ++round) {
        auto model = load_delegate(name, mine);
        if (!model) {
          ++wrong;
          continue;
        }
        for (int i = 0; i < 10; ++i) {
          const auto outputs = model->run(inputs);
          if (!outputs || !all_near(*outputs, expected)) ++wrong;
        }
        if (!model->close()) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(objects_below(temp_.path()), 0u);
  EXPECT_EQ(library::testing::mapping_count("memfd:threads_"), 0u);
  const Footprint after = Footprint::now(temp_.path());
  EXPECT_EQ(after.mappings, 0u);
  EXPECT_EQ(after.files, 0u);
  EXPECT_EQ(after.pinned, 0u);
}

}  // namespace
}  // namespace berth::testing
