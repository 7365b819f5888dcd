// One model that runs several times at once, on libraries torch compiled.
#include <gmock/gmock.h>

#include <atomic>
#include <set>
#include <thread>

#include "berth/model.h"
#include "berth/process.h"
#include "library/library_testing.h"
#include "support/delegates.h"
#include "support/models.h"

namespace berth::testing {
namespace {

using ::testing::HasSubstr;

ModelOptions replicas(std::size_t count, WhenBusy when_busy = WhenBusy::kWait) {
  ModelOptions options;
  options.replicas = count;
  options.when_busy = when_busy;
  return options;
}

Result<Model> load(const std::string& name, const ModelOptions& options) {
  return Model::load(read(model_path(name, "model.so")), {}, options);
}

// Runs `body(t)` on `count` threads at once.
template <typename Body>
void on_threads(int count, Body&& body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) threads.emplace_back([&body, t] { body(t); });
  for (std::thread& thread : threads) thread.join();
}

class ReplicasTest : public ::testing::Test {
 protected:
  Footprint footprint() const { return Footprint::now(temp_.path()); }
  TempDirectory temp_;
};

TEST_F(ReplicasTest, NumbersThatMakeNoSenseAreRefused) {
  const Footprint before = footprint();
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1025}, static_cast<std::size_t>(-1)}) {
    const auto model = load("mlp_lib", replicas(count));
    ASSERT_FALSE(model.has_value());
    EXPECT_EQ(model.error().code(), Code::kInvalidArgument);
    EXPECT_THAT(
        model.error().to_string(),
        HasSubstr("1 to 1024 replicas, found " + std::to_string(count)));
  }
  EXPECT_EQ(footprint(), before);
}

// The library keeps a pointer into the running kernel's stack in a static. Two
// runs at once in one library end the process, or blame the wrong run.
class DivisionTest : public ReplicasTest,
                     public ::testing::WithParamInterface<std::size_t> {};

TEST_P(DivisionTest, ARunThatDividesByZeroIsTheOnlyOneThatFails) {
  auto model = load_delegate("int_div", replicas(GetParam()));
  ASSERT_TRUE(model.has_value()) << model.error();
  const auto inputs = tensors("int_div", "in");
  const auto expected = tensors("int_div", "out");
  const auto zeros = dividing_by_zero();
  constexpr int kRuns = 3000;
  std::atomic<int> caught = 0;
  std::atomic<int> spurious = 0;
  {
    const QuietStderr quiet;
    on_threads(2, [&](int t) {
      for (int i = 0; i < kRuns; ++i) {
        const auto outputs = model->run(t == 0 ? zeros : inputs);
        if (t == 0)
          caught += !outputs && outputs.error().code() == Code::kDelegate;
        else
          spurious += !outputs || !all_near(*outputs, expected);
      }
    });
  }
  EXPECT_EQ(caught, kRuns);
  EXPECT_EQ(spurious, 0);
}

INSTANTIATE_TEST_SUITE_P(Replicas, DivisionTest, ::testing::Values(1, 2, 3));

TEST_F(ReplicasTest, MoreThreadsThanReplicasAllGetEagersResults) {
  auto model = load("mlp_lib", replicas(3));
  ASSERT_TRUE(model.has_value()) << model.error();
  const auto inputs = tensors("mlp_lib", "in");
  const auto expected = tensors("mlp_lib", "out");
  std::atomic<int> wrong = 0;
  on_threads(8, [&](int t) {
    std::vector<Tensor> reused(1);
    for (int i = 0; i < 300; ++i) {
      if (t % 2 == 0) {
        const auto outputs = model->run(inputs);
        wrong += !outputs || !all_near(*outputs, expected);
      } else {
        wrong += !model->run(inputs, reused) || !all_near(reused, expected);
      }
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST_F(ReplicasTest, WhoDoesNotWaitIsToldThatAllAreBusy) {
  auto model = load("wide_lib", replicas(2, WhenBusy::kFail));
  ASSERT_TRUE(model.has_value()) << model.error();
  const auto inputs = tensors("wide_lib", "in");
  const auto expected = tensors("wide_lib", "out");
  std::atomic<int> busy = 0;
  std::atomic<int> right = 0;
  std::atomic<int> wrong = 0;
  // Until it happened; the test's time limit is the limit.
  on_threads(6, [&](int) {
    for (int i = 0; i < 20 || busy == 0; ++i) {
      const auto outputs = model->run(inputs);
      if (outputs)
        all_near(*outputs, expected, 1e-3) ? ++right : ++wrong;
      else
        outputs.error().code() == Code::kBusy ? ++busy : ++wrong;
    }
  });
  EXPECT_GT(busy, 0);
  EXPECT_GT(right, 0);
  EXPECT_EQ(wrong, 0);
  // Nothing was lost.
  EXPECT_TRUE(model->run(inputs).has_value());
}

TEST_F(ReplicasTest, AFailingRunGivesItsReplicaBack) {
  auto model = load_delegate("int_div", replicas(2, WhenBusy::kFail));
  ASSERT_TRUE(model.has_value()) << model.error();
  const auto inputs = tensors("int_div", "in");
  const auto zeros = dividing_by_zero();
  const std::size_t handles = footprint().handles;
  const std::int64_t wrong_sizes[] = {3};
  std::vector<Tensor> wrong_room = {*Tensor::empty(wrong_sizes, DType::kInt64)};
  const QuietStderr quiet;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(model->run(zeros).error().code(), Code::kDelegate);
    EXPECT_EQ(model->run({}).error().code(), Code::kInvalidArgument);
    EXPECT_FALSE(model->run(inputs, wrong_room).has_value());
  }
  EXPECT_EQ(footprint().handles, handles);
  EXPECT_TRUE(all_near(*model->run(inputs), tensors("int_div", "out")));
}

TEST_F(ReplicasTest, EachHasALibraryOfItsOwnAndAllAreGoneAfterwards) {
  const Footprint before = footprint();
  auto model = load("mlp_lib", replicas(4));
  ASSERT_TRUE(model.has_value()) << model.error();
  const auto paths = model->library_paths();
  EXPECT_EQ(paths.size(), 4u);
  EXPECT_EQ(paths.front(), model->library_path());
  EXPECT_EQ(std::set(paths.begin(), paths.end()).size(), 4u);
  EXPECT_THAT(loaded_paths(), ::testing::UnorderedElementsAreArray(paths));
  EXPECT_EQ(footprint().files, before.files + 4);
  EXPECT_EQ(objects_below(temp_.path()), 4u);

  const Status closed = model->close();
  EXPECT_TRUE(closed.has_value()) << closed.error();
  EXPECT_EQ(footprint(), before);
  EXPECT_EQ(objects_below(temp_.path()), 0u);
  EXPECT_EQ(model->library_paths(), paths);
  EXPECT_TRUE(model->close().has_value());
}

TEST_F(ReplicasTest, AFailureOfAnyCallWhileLoadingLeavesNothing) {
  ModelOptions options = replicas(3);
  options.temp_directory = temp_.path();
  options.placement = Placement::kFile;  // There is nothing to fall back to.
  ASSERT_TRUE(load("mlp_lib", options).has_value());
  const Footprint before = footprint();
  int failed = 0;
  std::set<std::string> notes;
  for (int n = 1;; ++n) {
    const auto model = [&] {
      const library::testing::FailingCall failing(n);
      auto loaded = load("mlp_lib", options);
      if (!library::testing::FailingCall::happened()) n = -1;
      return loaded;
    }();
    if (n < 0) break;
    if (model) continue;
    ++failed;
    const std::string text = model.error().to_string();
    for (const char* note : {"replica 2 of 3", "replica 3 of 3"}) {
      if (text.find(note) != std::string::npos) notes.insert(note);
    }
    EXPECT_EQ(footprint(), before) << n << ": " << text;
    EXPECT_EQ(objects_below(temp_.path()), 0u) << text;
  }
  EXPECT_GT(failed, 20);
  EXPECT_EQ(notes.size(), 2u);
}

TEST_F(ReplicasTest, AModelMayBeClosedWhileItRuns) {
  const auto inputs = tensors("mlp_lib", "in");
  const auto expected = tensors("mlp_lib", "out");
  const Footprint before = footprint();
  for (int round = 0; round < 10; ++round) {
    auto model = load("mlp_lib", replicas(2));
    ASSERT_TRUE(model.has_value()) << model.error();
    std::atomic<int> right = 0;
    std::atomic<int> wrong = 0;
    std::atomic<int> refused = 0;
    std::thread closer([&] {
      while (right < 20 + round) std::this_thread::yield();
      const Status closed = model->close();
      EXPECT_TRUE(closed.has_value()) << closed.error();
      EXPECT_EQ(footprint().files, before.files);
    });
    on_threads(5, [&](int) {
      while (true) {
        const auto outputs = model->run(inputs);
        if (outputs) {
          all_near(*outputs, expected) ? ++right : ++wrong;
          continue;
        }
        if (outputs.error().message() == "the model is closed") ++refused;
        return;
      }
    });
    closer.join();
    EXPECT_EQ(refused, 5);
    EXPECT_EQ(wrong, 0);
  }
  EXPECT_EQ(objects_below(temp_.path()), 0u);
  const Footprint after = footprint();
  EXPECT_EQ(after.files, before.files);
  EXPECT_EQ(after.mappings, before.mappings);
  EXPECT_EQ(after.handles, before.handles);
  EXPECT_EQ(after.pinned, before.pinned);
}

TEST_F(ReplicasTest, ManyRunsLeaveNoHandleBehind) {
  auto model = load("mlp_lib", replicas(3));
  ASSERT_TRUE(model.has_value()) << model.error();
  const auto inputs = tensors("mlp_lib", "in");
  const std::size_t handles = footprint().handles;
  on_threads(3, [&](int) {
    for (int i = 0; i < 300; ++i) EXPECT_TRUE(model->run(inputs).has_value());
  });
  EXPECT_EQ(footprint().handles, handles);
}

}  // namespace
}  // namespace berth::testing
