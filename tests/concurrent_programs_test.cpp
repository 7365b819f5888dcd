// Delegates that several threads execute at once, on the real ExecuTorch
// runtime: one handle for all of them, or a method for each.
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor_ptr.h>
#include <executorch/runtime/backend/backend_options_map.h>
#include <gmock/gmock.h>

#include <atomic>
#include <memory>
#include <thread>

#include "berth/executorch.h"
#include "berth/process.h"
#include "executorch/program.h"
#include "support/delegates.h"
#include "support/models.h"
#include "support/named_data.h"

namespace berth::testing {
namespace {

using ::executorch::extension::make_tensor_ptr;
using ::executorch::extension::Module;
using ::executorch::extension::TensorPtr;
using ::testing::HasSubstr;
using RuntimeError = runtime::Error;
using Options = runtime::BackendOptions<2>;

Options replicas(int count, const char* when_busy = nullptr) {
  Options options;
  (void)options.set_option(executorch::kReplicas, count);
  if (when_busy != nullptr)
    (void)options.set_option(executorch::kWhenBusy, when_busy);
  return options;
}

// The named data of a program's only delegate, under the keys "l" and "w".
FakeNamedData named_data(const std::string& model) {
  FakeNamedData data;
  const auto bytes = read(model_path(model, "model.pte"));
  const auto program = executorch::Program::parse(bytes);
  EXPECT_TRUE(program.has_value()) << program.error();
  const auto& delegate = program->methods()[0].delegates[0];
  const auto copy = [&](const std::string& from, const char* to) {
    const auto found = program->named_data().find(from);
    if (found != program->named_data().end())
      data.entries[to].assign(found->second.begin(), found->second.end());
  };
  copy(delegate.library_key, "l");
  copy(delegate.weights_key, "w");
  return data;
}

// What one thread passes to a delegate: inputs, then room for the outputs.
class Values {
 public:
  Values(const std::vector<Tensor>& inputs, const std::vector<Tensor>& like)
      : inputs_(inputs) {
    for (const Tensor& tensor : like)
      outputs_.push_back(*Tensor::empty(tensor.sizes(), tensor.dtype()));
    add(inputs_);
    add(outputs_);
  }
  std::vector<runtime::EValue>& get() { return values_; }
  const std::vector<Tensor>& outputs() const { return outputs_; }

 private:
  void add(const std::vector<Tensor>& tensors) {
    for (const Tensor& t : tensors) {
      kept_.push_back(make_tensor_ptr(
          {t.sizes().begin(), t.sizes().end()}, t.data(), {}, {},
          static_cast<::executorch::aten::ScalarType>(t.dtype())));
      values_.emplace_back(*kept_.back());
    }
  }

  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
  std::vector<TensorPtr> kept_;
  std::vector<runtime::EValue> values_;
};

template <typename Body>
void on_threads(int count, Body&& body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) threads.emplace_back([&body, t] { body(t); });
  for (std::thread& thread : threads) thread.join();
}

class ConcurrentProgramsTest : public ::testing::Test {
 protected:
  TempDirectory temp_;
};

TEST_F(ConcurrentProgramsTest, OneHandleIsExecutedByManyThreads) {
  const FakeNamedData data = named_data("mlp");
  const auto inputs = tensors("mlp", "in");
  const auto expected = tensors("mlp", "out");
  const Footprint before = Footprint::now(temp_.path());
  for (const int count : {1, 3}) {
    auto handle = Handle::init_with(replicas(count), &data, "l\nw");
    ASSERT_TRUE(handle.ok());
    EXPECT_EQ(Footprint::now(temp_.path()).files,
              before.files + static_cast<std::size_t>(count));
    std::atomic<int> wrong = 0;
    on_threads(6, [&](int) {
      Values values(inputs, expected);
      for (int i = 0; i < 200; ++i) {
        wrong += handle->execute(values.get()) != RuntimeError::Ok ||
                 !all_near(values.outputs(), expected);
      }
    });
    EXPECT_EQ(wrong, 0);
  }
  const Footprint after = Footprint::now(temp_.path());
  EXPECT_EQ(after.files, before.files);
  EXPECT_EQ(after.handles, before.handles);
  EXPECT_EQ(after.pinned, before.pinned);
}

TEST_F(ConcurrentProgramsTest, OnlyTheCallThatDividesByZeroFails) {
  const FakeNamedData data = named_data("int_div");
  auto handle = Handle::init_with(replicas(2), &data, "l\nw");
  ASSERT_TRUE(handle.ok());
  const auto expected = tensors("int_div", "out");
  std::atomic<int> caught = 0;
  std::atomic<int> spurious = 0;
  constexpr int kRuns = 1000;
  {
    const QuietStderr quiet;
    on_threads(2, [&](int t) {
      Values values(t == 0 ? dividing_by_zero() : tensors("int_div", "in"),
                    expected);
      for (int i = 0; i < kRuns; ++i) {
        const auto error = handle->execute(values.get());
        if (t == 0) {
          const auto reason = executorch::take_last_error();
          caught += error == RuntimeError::Internal && reason.has_value() &&
                    reason->code() == Code::kDelegate;
        } else {
          spurious += error != RuntimeError::Ok ||
                      !all_near(values.outputs(), expected);
        }
      }
    });
  }
  EXPECT_EQ(caught, kRuns);
  EXPECT_EQ(spurious, 0);
}

TEST_F(ConcurrentProgramsTest, ACallThatShouldNotWaitIsRefusedAsBusy) {
  const FakeNamedData data = named_data("mlp");
  auto handle =
      Handle::init_with(replicas(1, executorch::kWhenBusyFail), &data, "l\nw");
  ASSERT_TRUE(handle.ok());
  const auto inputs = tensors("mlp", "in");
  const auto expected = tensors("mlp", "out");
  std::atomic<int> busy = 0;
  std::atomic<int> wrong = 0;
  {
    const QuietStderr quiet;
    // Until it happened; the test's time limit is the limit.
    on_threads(6, [&](int) {
      Values values(inputs, expected);
      for (int i = 0; i < 100 || busy == 0; ++i) {
        const auto error = handle->execute(values.get());
        if (error == RuntimeError::Ok) {
          wrong += !all_near(values.outputs(), expected);
        } else {
          const auto reason = executorch::take_last_error();
          const bool is_busy = error == RuntimeError::OutOfResources &&
                               reason.has_value() &&
                               reason->code() == Code::kBusy;
          is_busy ? ++busy : ++wrong;
        }
      }
    });
  }
  EXPECT_GT(busy, 0);
  EXPECT_EQ(wrong, 0);
  Values values(inputs, expected);
  EXPECT_EQ(handle->execute(values.get()), RuntimeError::Ok);
}

TEST_F(ConcurrentProgramsTest, OptionsThatMakeNoSenseAreNamed) {
  const FakeNamedData data = named_data("mlp");
  const Footprint before = Footprint::now(temp_.path());
  Options text;
  (void)text.set_option(executorch::kReplicas, "two");
  Options number;
  (void)number.set_option(executorch::kWhenBusy, 1);
  struct Case {
    Options options;
    const char* says;
  };
  Case cases[] = {
      {replicas(0), "'replicas' should be at least 1, found 0"},
      {replicas(-3), "'replicas' should be at least 1, found -3"},
      {replicas(5000), "expected 1 to 1024 replicas, found 5000"},
      {text, "'replicas' should be an integer"},
      {number, "'when_busy' should be the string 'wait' or 'fail'"},
      {replicas(1, "never"), "'when_busy' should be the string"},
  };
  for (Case& each : cases) {
    const auto handle = Handle::init_with(each.options, &data, "l\nw");
    EXPECT_EQ(handle.error(), RuntimeError::InvalidArgument);
    const auto error = executorch::take_last_error();
    ASSERT_TRUE(error.has_value());
    EXPECT_THAT(error->to_string(), HasSubstr(each.says));
  }
  EXPECT_EQ(Footprint::now(temp_.path()), before);
  EXPECT_TRUE(
      Handle::init_with(replicas(1, executorch::kWhenBusyWait), &data, "l\nw")
          .ok());
}

TEST_F(ConcurrentProgramsTest, MethodsOfManyThreadsRunAtOnce) {
  const auto inputs = tensors("two_towers", "in");
  const auto expected = tensors("two_towers", "out");
  const Footprint before = Footprint::now(temp_.path());
  Options options = replicas(2);
  runtime::LoadBackendOptionsMap map;
  ASSERT_EQ(map.set_options(executorch::kBackendName, options.view()),
            RuntimeError::Ok);
  std::vector<std::unique_ptr<Module>> modules;
  for (int i = 0; i < 3; ++i) {
    modules.push_back(std::make_unique<Module>(
        model_path("two_towers", "model.pte").string()));
    ASSERT_EQ(modules.back()->load(map), RuntimeError::Ok);
    ASSERT_EQ(modules.back()->load_method("forward"), RuntimeError::Ok);
  }
  // Three methods with two delegates of two replicas.
  EXPECT_EQ(loaded_paths().size(), 12u);
  std::atomic<int> wrong = 0;
  on_threads(3, [&](int t) {
    const TensorPtr input = make_tensor_ptr(
        {inputs[0].sizes().begin(), inputs[0].sizes().end()}, inputs[0].data());
    for (int i = 0; i < 100; ++i) {
      const auto results =
          modules[static_cast<std::size_t>(t)]->forward(*input);
      if (!results.ok()) {
        ++wrong;
        continue;
      }
      const auto& found = results->front().toTensor();
      const Tensor output =
          *Tensor::borrow(found.mutable_data_ptr(), found.nbytes(),
                          expected[0].sizes(), {}, DType::kFloat32);
      wrong += !near(output, expected[0]);
    }
  });
  EXPECT_EQ(wrong, 0);
  modules.clear();
  EXPECT_EQ(Footprint::now(temp_.path()), before);
}

}  // namespace
}  // namespace berth::testing
