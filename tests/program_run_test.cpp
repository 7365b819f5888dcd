// Whole programs on the real ExecuTorch runtime, with Berth as its backend.
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor_ptr.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <set>

#include "berth/executorch.h"
#include "berth/process.h"
#include "executorch/program.h"
#include "support/models.h"

namespace berth::testing {
namespace {

namespace runtime = ::executorch::runtime;
using ::executorch::extension::Module;
using ::executorch::extension::TensorPtr;

std::unique_ptr<Module> open(const std::string& model,
                             const std::string& method = "forward") {
  const auto data = model_path(model, "model.ptd");
  const std::string path = model_path(model, "model.pte").string();
  auto module = std::filesystem::exists(data)
                    ? std::make_unique<Module>(path, data.string())
                    : std::make_unique<Module>(path);
  const auto error = module->load_method(method);
  EXPECT_EQ(error, runtime::Error::Ok)
      << model << ": " << runtime::to_string(error);
  return module;
}

std::vector<Tensor> run(Module& module, const std::vector<Tensor>& inputs,
                        const std::string& method = "forward") {
  std::vector<TensorPtr> kept;
  std::vector<runtime::EValue> values;
  for (const Tensor& input : inputs) {
    kept.push_back(::executorch::extension::make_tensor_ptr(
        {input.sizes().begin(), input.sizes().end()}, input.data(), {}, {},
        static_cast<::executorch::aten::ScalarType>(input.dtype())));
    values.emplace_back(*kept.back());
  }
  const auto results = module.execute(method, values);
  EXPECT_TRUE(results.ok()) << runtime::to_string(results.error());
  std::vector<Tensor> outputs;
  if (!results.ok()) return outputs;
  for (const runtime::EValue& value : results.get()) {
    const auto& tensor = value.toTensor();
    const std::vector<std::int64_t> sizes(tensor.sizes().begin(),
                                          tensor.sizes().end());
    outputs.push_back(*Tensor::borrow(tensor.mutable_data_ptr(),
                                      tensor.nbytes(), sizes, {},
                                      static_cast<DType>(tensor.scalar_type()))
                           ->clone());
  }
  return outputs;
}

// Inputs and outputs of bfloat16 fixtures are stored as their bits.
std::vector<Tensor> as_bfloat16(const std::vector<Tensor>& bits) {
  std::vector<Tensor> tensors;
  for (const Tensor& t : bits) {
    const Tensor view = *Tensor::borrow(t.data(), t.size_bytes(), t.sizes(), {},
                                        DType::kBFloat16);
    tensors.push_back(*view.clone());
  }
  return tensors;
}

class ProgramTest : public ::testing::Test {
 protected:
  Footprint footprint() const { return Footprint::now(temp_.path()); }
  TempDirectory temp_;
};

TEST_F(ProgramTest, TheBackendIsRegistered) {
  EXPECT_TRUE(executorch::is_registered());
}

TEST_F(ProgramTest, TwoIdenticalPartitionsShareAKeyAndNothingElse) {
  const auto bytes = read(model_path("two_towers", "model.pte"));
  const auto program = executorch::Program::parse(bytes);
  ASSERT_TRUE(program.has_value()) << program.error();
  const auto& delegates = program->methods()[0].delegates;
  ASSERT_EQ(delegates.size(), 2u);
  EXPECT_EQ(delegates[0].library_key, delegates[1].library_key);

  const auto module = open("two_towers");
  const auto paths = loaded_paths();
  EXPECT_EQ(std::set(paths.begin(), paths.end()).size(), 2u);
  EXPECT_TRUE(all_near(run(*module, tensors("two_towers", "in")),
                       tensors("two_towers", "out")));
}

TEST_F(ProgramTest, TwentyFourIdenticalPartitionsHaveTwentyFourFiles) {
  const auto bytes = read(model_path("twenty_four", "model.pte"));
  const auto program = executorch::Program::parse(bytes);
  ASSERT_TRUE(program.has_value()) << program.error();
  std::set<std::string> keys;
  for (const auto& delegate : program->methods()[0].delegates)
    keys.insert(delegate.library_key);
  EXPECT_EQ(keys.size(), 1u);

  const Footprint before = footprint();
  {
    const auto module = open("twenty_four");
    const auto paths = loaded_paths();
    EXPECT_EQ(std::set(paths.begin(), paths.end()).size(), 24u);
    EXPECT_EQ(footprint().files, before.files + 24);
    EXPECT_EQ(objects_below(temp_.path()), 24u);
    EXPECT_TRUE(all_near(run(*module, tensors("twenty_four", "in")),
                         tensors("twenty_four", "out")));
  }
  EXPECT_EQ(footprint(), before);
}

class EveryProgram : public ProgramTest,
                     public ::testing::WithParamInterface<const char*> {};

TEST_P(EveryProgram, AgreesWithEager) {
  const std::string model = GetParam();
  const auto module = open(model);
  const auto inputs = tensors(model, "in");
  const auto expected = tensors(model, "out");
  // The second run must not find anything of the first.
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(all_near(run(*module, inputs), expected));
}

INSTANTIATE_TEST_SUITE_P(All, EveryProgram,
                         ::testing::Values("two_different", "mlp",
                                           "mlp_external", "no_weights",
                                           "dynamic", "int_div", "gemms",
                                           "gemms_f64"),
                         [](const auto& p) { return std::string(p.param); });

TEST_F(ProgramTest, Bfloat16ProductsAgreeWithEagerToTheirPrecision) {
  const auto module = open("gemms_bf16");
  const auto found = run(*module, as_bfloat16(tensors("gemms_bf16", "in")));
  // One unit in the last place of a sum of 40 products is 2^-4 at 16.
  EXPECT_TRUE(
      all_near(found, as_bfloat16(tensors("gemms_bf16", "out")), 0.1251));
}

TEST_F(ProgramTest, DynamicSizesAreFollowed) {
  const auto module = open("dynamic");
  for (const char* size : {"_b64", "_b2", "_b63", "_b64", "_b2"}) {
    EXPECT_TRUE(all_near(run(*module, tensors("dynamic", "in", size)),
                         tensors("dynamic", "out", size)))
        << size;
  }
}

TEST_F(ProgramTest, MethodsOfOneProgramAreApart) {
  const auto module = open("multi_method");
  ASSERT_EQ(module->load_method("other"), runtime::Error::Ok);
  const auto in = tensors("multi_method", "in");
  const auto other_in = tensors("multi_method", "other_in");
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(all_near(run(*module, in), tensors("multi_method", "out")));
    EXPECT_TRUE(all_near(run(*module, other_in, "other"),
                         tensors("multi_method", "other_out")));
  }
  // One goes, the other stays.
  EXPECT_TRUE(module->unload_method("forward"));
  EXPECT_TRUE(all_near(run(*module, other_in, "other"),
                       tensors("multi_method", "other_out")));
}

TEST_F(ProgramTest, ACaughtDivisionByZeroLeavesTheProgramUsable) {
  const auto module = open("int_div");
  const auto inputs = tensors("int_div", "in");
  auto zero = std::vector<Tensor>{*inputs[0].clone(), *inputs[1].clone()};
  static_cast<std::int64_t*>(zero[1].data())[5] = 0;
  std::vector<TensorPtr> kept;
  std::vector<runtime::EValue> values;
  for (const Tensor& input : zero) {
    kept.push_back(::executorch::extension::make_tensor_ptr(
        {input.sizes().begin(), input.sizes().end()}, input.data(), {}, {},
        static_cast<::executorch::aten::ScalarType>(input.dtype())));
    values.emplace_back(*kept.back());
  }
  const auto failed = module->execute("forward", values);
  EXPECT_FALSE(failed.ok());
  const auto error = executorch::take_last_error();
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code(), Code::kDelegate);
  EXPECT_TRUE(all_near(run(*module, inputs), tensors("int_div", "out")));
}

TEST_F(ProgramTest, RunsOfIdenticalAndDifferentProgramsInterleave) {
  const auto a = open("two_towers");
  const auto b = open("two_towers");
  const auto c = open("two_different");
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(all_near(run(*a, tensors("two_towers", "in")),
                         tensors("two_towers", "out")));
    EXPECT_TRUE(all_near(run(*c, tensors("two_different", "in")),
                         tensors("two_different", "out")));
    EXPECT_TRUE(all_near(run(*b, tensors("two_towers", "in")),
                         tensors("two_towers", "out")));
  }
}

TEST_F(ProgramTest, ThreeAreDestroyedInEveryOrder) {
  const Footprint before = footprint();
  std::vector<int> order = {0, 1, 2};
  do {
    std::vector<std::unique_ptr<Module>> modules;
    for (int i = 0; i < 3; ++i) modules.push_back(open("two_towers"));
    for (const int victim : order) {
      modules[static_cast<std::size_t>(victim)].reset();
      for (const auto& left : modules) {
        if (left == nullptr) continue;
        EXPECT_TRUE(all_near(run(*left, tensors("two_towers", "in")),
                             tensors("two_towers", "out")));
      }
    }
    EXPECT_EQ(footprint(), before);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(ProgramTest, FiftyRoundsLeaveNothingBehind) {
  // The first round opens what stays: SLEEF, OpenMP's threads.
  run(*open("two_towers"), tensors("two_towers", "in"));
  const Footprint before = footprint();
  for (int i = 0; i < 50; ++i) {
    const auto module = open("two_towers");
    EXPECT_TRUE(all_near(run(*module, tensors("two_towers", "in")),
                         tensors("two_towers", "out")));
  }
  EXPECT_EQ(footprint(), before);
}

TEST_F(ProgramTest, TwoProcessesShareOneTempDirectory) {
  const Footprint before = footprint();
  std::vector<pid_t> children;
  for (int i = 0; i < 2; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      bool right = true;
      for (int round = 0; round < 10; ++round) {
        const auto module = open("two_towers");
        right = right && all_near(run(*module, tensors("two_towers", "in")),
                                  tensors("two_towers", "out"));
      }
      ::_exit(right ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  EXPECT_EQ(footprint().files, before.files);
}

TEST_F(ProgramTest, TheProgramsFileMayChangeWhileItIsLoaded) {
  const auto copy = temp_.path() / "copy.pte";
  std::filesystem::copy_file(model_path("mlp", "model.pte"), copy);
  auto module = std::make_unique<Module>(copy.string());
  ASSERT_EQ(module->load_method("forward"), runtime::Error::Ok);
  std::ofstream(copy, std::ios::trunc) << "something else";
  EXPECT_TRUE(
      all_near(run(*module, tensors("mlp", "in")), tensors("mlp", "out")));
}

}  // namespace
}  // namespace berth::testing
