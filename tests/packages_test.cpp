// Packages as torch writes them, against what eager PyTorch answers.
#include <gmock/gmock.h>

#include <barrier>
#include <cmath>
#include <thread>

#include "base/file.h"
#include "berth/model.h"
#include "berth/operator.h"
#include "berth/package.h"
#include "support/models.h"

namespace berth {
namespace {

using berth::testing::all_near;
using berth::testing::Footprint;
using berth::testing::model_path;
using berth::testing::near;
using berth::testing::read;
using berth::testing::tensors;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string path_of(const std::string& name) {
  return model_path(name, "model.pt2").string();
}

// Runs the model on its saved inputs; the saved outputs are those of its
// results that are tensors.
void expect_eager(Model& model, const std::string& name,
                  const std::string& prefix = "") {
  const auto outputs = model.run(tensors(name, prefix + "in"));
  ASSERT_TRUE(outputs) << outputs.error();
  const auto expected = tensors(name, prefix + "out");
  ASSERT_GE(outputs->size(), expected.size());
  ASSERT_FALSE(expected.empty());
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_TRUE(near((*outputs)[i], expected[i])) << name << " output " << i;
}

class PackagesRun : public ::testing::TestWithParam<const char*> {};

TEST_P(PackagesRun, AsEagerFromAPathAndFromMemory) {
  const std::string name = GetParam();
  auto model = Model::load_file(path_of(name));
  ASSERT_TRUE(model) << model.error();
  expect_eager(*model, name);

  auto bytes = read(path_of(name));
  auto package = Package::open(bytes);
  ASSERT_TRUE(package) << package.error();
  auto from_memory = Model::load(*package);
  ASSERT_TRUE(from_memory) << from_memory.error();
  // A loaded model needs neither.
  { const Package gone = std::move(*package); }
  std::ranges::fill(bytes, std::byte{0});
  expect_eager(*from_memory, name);
}

INSTANTIATE_TEST_SUITE_P(Kinds, PackagesRun,
                         ::testing::Values("mlp_lib", "mlp_lib_external",
                                           "folded", "nested_pkg",
                                           "entries_pkg", "control_pkg",
                                           "functions_pkg", "dtypes_pkg"),
                         [](const auto& name) {
                           return std::string(name.param);
                         });

INSTANTIATE_TEST_SUITE_P(
    Surveyed, PackagesRun,
    ::testing::Values("gnn", "intdiv", "math_fns", "lstm_decomposed",
                      "transformer_encoder", "transformer_encoder_math",
                      "kv_cache_templates", "conv1d_audio", "lstm", "indexing"),
    [](const auto& name) { return std::string(name.param); });

constexpr const char* kSoftClip =
    "berth_test::soft_clip(Tensor x, float most, SymInt[] sizes, bool "
    "keep=True) -> Tensor";

// What the fixture's operator computes in Python.
Result<std::vector<Tensor>> soft_clip(
    std::span<const OperatorArgument> arguments) {
  const auto& x = std::get<Tensor>(arguments[0]);
  const auto most = static_cast<float>(std::get<double>(arguments[1]));
  float sum = 0;
  for (const auto size : std::get<std::vector<std::int64_t>>(arguments[2]))
    sum += static_cast<float>(size);
  if (!std::get<bool>(arguments[3]) || x.dtype() != DType::kFloat32)
    return fail(Code::kInvalidArgument, "expected float32, and to keep it");
  auto result = x.clone();
  if (!result) return tl::unexpected(result.error());
  auto* values = static_cast<float*>(result->data());
  for (std::int64_t i = 0; i < result->numel(); ++i)
    values[i] = most * std::tanh(values[i] / most) + sum;
  return std::vector{*std::move(result)};
}

TEST(Packages, CallOperatorsThatTheProgramRegistered) {
  const std::string name = "custom_operator_pkg";
  const auto refused = Model::load_file(path_of(name));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kUnsupported);
  EXPECT_THAT(refused.error().to_string(),
              HasSubstr("'berth_test::soft_clip'"));

  ASSERT_TRUE(register_operator(kSoftClip, soft_clip));
  auto model = Model::load_file(path_of(name));
  // The model keeps what it found.
  EXPECT_TRUE(unregister_operator("berth_test::soft_clip"));
  ASSERT_TRUE(model) << model.error();
  expect_eager(*model, name);
}

TEST(Packages, ErrorsOfRegisteredOperatorsReachTheCaller) {
  const std::string name = "custom_operator_pkg";
  ASSERT_TRUE(
      register_operator(kSoftClip, [](auto) -> Result<std::vector<Tensor>> {
        return fail(Code::kInvalidArgument, "not today");
      }));
  auto model = Model::load_file(path_of(name));
  EXPECT_TRUE(unregister_operator("berth_test::soft_clip"));
  ASSERT_TRUE(model) << model.error();
  const auto outputs = model->run(tensors(name, "in"));
  ASSERT_FALSE(outputs);
  EXPECT_THAT(
      outputs.error().to_string(),
      AllOf(HasSubstr("not today"),
            HasSubstr("operator 'berth_test::soft_clip' (float32 [4, 8])")));
}

TEST(Packages, TellWhatTheModelTakesAndGives) {
  const auto model = Model::load_file(path_of("nested_pkg"));
  ASSERT_TRUE(model) << model.error();
  std::vector<std::string> inputs;
  for (const TensorSpec& spec : model->inputs())
    inputs.push_back(spec.to_string().substr(spec.name.size() + 3));
  EXPECT_THAT(inputs, ElementsAre("[0]: float32 [2..64, 64]",
                                  "['opts']['w']: float32 [32, 16]",
                                  "['opts']['m']: bool [3]"));
  EXPECT_THAT(model->inputs()[0].strides, ElementsAre(64, 1));
  EXPECT_THAT(model->inputs()[1].strides, ElementsAre(1, 32));
  std::vector<std::string> outputs;
  for (const TensorSpec& spec : model->outputs()) outputs.push_back(spec.path);
  EXPECT_THAT(outputs, ElementsAre("['y']", "['pair'][0]", "['pair'][1]",
                                   "['none']", "['num']"));
  EXPECT_FALSE(model->outputs()[0].is_known);
  EXPECT_THAT(model->call_spec().inputs, HasSubstr("builtins.tuple"));
}

TEST(Packages, GiveANoneAsATensorWithoutStorage) {
  auto model = Model::load_file(path_of("nested_pkg"));
  ASSERT_TRUE(model) << model.error();
  const auto outputs = model->run(tensors("nested_pkg", "in"));
  ASSERT_TRUE(outputs) << outputs.error();
  EXPECT_FALSE((*outputs)[3].has_storage());
  EXPECT_EQ(*static_cast<std::int64_t*>((*outputs)[4].data()), 3);
}

TEST(Packages, TellTheTypeOfEveryInput) {
  const auto model = Model::load_file(path_of("dtypes_pkg"));
  ASSERT_TRUE(model) << model.error();
  const auto saved = tensors("dtypes_pkg", "in");
  ASSERT_EQ(model->inputs().size(), saved.size());
  for (std::size_t i = 0; i < saved.size(); ++i) {
    const TensorSpec& spec = model->inputs()[i];
    ASSERT_TRUE(spec.is_known) << i;
    EXPECT_EQ(spec.dtype, saved[i].dtype()) << i;
    ASSERT_EQ(spec.sizes.size(), saved[i].sizes().size()) << i;
    for (std::size_t d = 0; d < spec.sizes.size(); ++d) {
      EXPECT_TRUE(spec.sizes[d].is_fixed());
      EXPECT_EQ(spec.sizes[d].least, saved[i].sizes()[d]);
    }
  }
}

TEST(Packages, RefuseInputsThatAreNotWhatWasCompiled) {
  auto model = Model::load_file(path_of("nested_pkg"));
  ASSERT_TRUE(model) << model.error();
  const auto sound = tensors("nested_pkg", "in");
  using Sizes = std::vector<std::int64_t>;
  const auto of = [](const Sizes& sizes, DType dtype) {
    return *Tensor::empty(sizes, dtype);
  };
  struct Wrong {
    std::size_t input;
    Tensor tensor;
    const char* says;
  };
  const Wrong kWrong[] = {
      {0, of({4, 64}, DType::kFloat64), "found float64 [4, 64]"},
      {0, of({1, 64}, DType::kFloat32),
       "float32 [2..64, 64], found float32 [1"},
      {0, of({65, 64}, DType::kFloat32), "found float32 [65, 64]"},
      {0, of({64}, DType::kFloat32), "found float32 [64]"},
      {0, of({4, 64, 1}, DType::kFloat32), "found float32 [4, 64, 1]"},
      {1, of({16, 32}, DType::kFloat32), "['opts']['w']: float32 [32, 16]"},
      {2, of({3}, DType::kUInt8),
       "bool [3], found uint8 [3]; while checking "
       "input 2"},
      {2, Tensor(), "expected a tensor, found none"},
  };
  for (const Wrong& wrong : kWrong) {
    auto inputs = sound;
    inputs[wrong.input] = wrong.tensor;
    const auto outputs = model->run(inputs);
    ASSERT_FALSE(outputs) << wrong.says;
    EXPECT_EQ(outputs.error().code(), Code::kInvalidArgument);
    EXPECT_THAT(outputs.error().to_string(), HasSubstr(wrong.says));
  }
  const auto few = model->run(std::span(sound).first(2));
  ASSERT_FALSE(few);
  EXPECT_THAT(few.error().to_string(), HasSubstr("takes 3 inputs, found 2"));
  expect_eager(*model, "nested_pkg");
}

TEST(Packages, TakeInputsOfOtherStrides) {
  auto model = Model::load_file(path_of("nested_pkg"));
  ASSERT_TRUE(model) << model.error();
  auto inputs = tensors("nested_pkg", "in");
  for (Tensor& input : inputs) {
    // Every other element of something twice as large, and transposed.
    std::vector<std::int64_t> sizes(input.sizes().begin(), input.sizes().end());
    std::vector<std::int64_t> strides;
    std::int64_t stride = 2;
    for (const std::int64_t size : sizes) {
      strides.push_back(stride);
      stride *= size;
    }
    Tensor other = *Tensor::empty_strided(sizes, strides, input.dtype());
    ASSERT_TRUE(other.copy_from(input));
    input = other;
  }
  const auto outputs = model->run(inputs);
  ASSERT_TRUE(outputs) << outputs.error();
  EXPECT_TRUE(near((*outputs)[0], tensors("nested_pkg", "out")[0]));
  EXPECT_TRUE(near((*outputs)[1], tensors("nested_pkg", "out")[1]));
}

TEST(Packages, HoldSeveralModels) {
  const auto package = Package::open(path_of("two_models_pkg"));
  ASSERT_TRUE(package) << package.error();
  ASSERT_EQ(package->models().size(), 2u);
  for (const char* name : {"left", "right"}) {
    ModelOptions options;
    options.model_name = name;
    auto model = Model::load(*package, options);
    ASSERT_TRUE(model) << model.error();
    expect_eager(*model, "two_models_pkg", std::string(name) + "_");
  }
  const auto unnamed = Model::load(*package);
  ASSERT_FALSE(unnamed);
  EXPECT_EQ(unnamed.error().code(), Code::kNotFound);
  EXPECT_THAT(unnamed.error().to_string(), HasSubstr("it has 'left', 'right'"));
}

TEST(Packages, LoadOneModelWithoutLookingAtTheOthers) {
  auto bytes = read(path_of("two_models_pkg"));
  std::size_t spoiled = 0;
  {
    const auto package = Package::open(bytes);
    ASSERT_TRUE(package) << package.error();
    const auto other = package->read((*package->find("right"))->library.name);
    ASSERT_TRUE(other) << other.error();
    const auto at =
        std::search(bytes.begin(), bytes.end(), other->begin(), other->end());
    ASSERT_NE(at, bytes.end());
    spoiled = static_cast<std::size_t>(at - bytes.begin());
  }
  bytes[spoiled + 1000] ^= std::byte{1};
  const auto package = Package::open(bytes);
  ASSERT_TRUE(package) << package.error();
  ModelOptions options;
  options.model_name = "left";
  auto model = Model::load(*package, options);
  ASSERT_TRUE(model) << model.error();
  expect_eager(*model, "two_models_pkg", "left_");
  options.model_name = "right";
  const auto wrong = Model::load(*package, options);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code(), Code::kCorrupt);
  EXPECT_THAT(wrong.error().to_string(), HasSubstr("CRC"));
}

TEST(Packages, WithoutConstantsAreRefusedBeforeTheyRun) {
  const auto model = Model::load_file(path_of("bare_pkg"));
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code(), Code::kNotFound);
  EXPECT_THAT(model.error().to_string(), HasSubstr("bytes of weights for 4"));
}

TEST(Packages, OfOperatorsThatAreNotServedAreRefusedByName) {
  const auto model = Model::load_file(path_of("unserved"));
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code(), Code::kUnsupported);
  EXPECT_THAT(model.error().to_string(),
              HasSubstr("aoti_torch_cpu__pdist_backward"));
  EXPECT_THAT(model.error().to_string(),
              HasSubstr("aoti_torch_cpu__cdist_backward"));
}

TEST(Packages, PutNothingOnDiskButTheLibrary) {
  std::string folder = ::testing::TempDir() + "berth-packages-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  ModelOptions options;
  options.temp_directory = folder;
  options.placement = Placement::kFile;
  const auto files = [&] {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& file :
         std::filesystem::recursive_directory_iterator(folder))
      count += file.is_regular_file() && file.path().extension() == ".so";
    return count;
  };
  {
    const auto model = Model::load_file(path_of("mlp_lib_external"), options);
    ASSERT_TRUE(model) << model.error();
    EXPECT_EQ(files(), 1u);
  }
  EXPECT_EQ(files(), 0u);
  std::filesystem::remove_all(folder);
}

// The same package, a copy of it and another one whose model has the same name.
TEST(Packages, LoadAndRunOnEightThreadsAtOnce) {
  constexpr int kThreads = 8;
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      for (int round = 0; round < 3; ++round) {
        const std::string name = t % 2 == 0 ? "mlp_lib" : "nested_pkg";
        auto model = Model::load_file(path_of(name));
        ASSERT_TRUE(model) << model.error();
        expect_eager(*model, name);
        ModelOptions options;
        options.model_name = t % 3 == 0 ? "left" : "right";
        auto named = Model::load_file(path_of("two_models_pkg"), options);
        ASSERT_TRUE(named) << named.error();
        expect_eager(*named, "two_models_pkg", options.model_name + "_");
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Packages, SayNothingOnStandardError) {
  ::testing::internal::CaptureStderr();
  {
    auto model = Model::load_file(path_of("nested_pkg"));
    ASSERT_TRUE(model) << model.error();
    (void)model->run(tensors("nested_pkg", "in"));
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace berth
