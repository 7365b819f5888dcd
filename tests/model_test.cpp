// berth::Model on libraries as torch's own packager writes them.
#include "berth/model.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "berth/inspection.h"
#include "support/models.h"

namespace berth::testing {
namespace {

using ::testing::HasSubstr;

class ModelTest : public ::testing::Test {
 protected:
  static Result<Model> load(const std::string& name, bool weights = false) {
    const auto image = read(model_path(name, "model.so"));
    const auto blob = weights ? read(model_path(name, "weights.blob"))
                              : std::vector<std::byte>();
    ModelOptions options;
    options.label = name;
    return Model::load(image, blob, options);
  }

  TempDirectory temp_;
};

TEST_F(ModelTest, ADefaultLibraryRunsWithoutLibtorch) {
  auto model = load("mlp_lib");
  ASSERT_TRUE(model.has_value()) << model.error();
  EXPECT_EQ(model->inputs().size(), 1u);
  EXPECT_EQ(model->outputs().size(), 1u);
  EXPECT_FALSE(model->inputs()[0].name.empty());
  const auto outputs = model->run(tensors("mlp_lib", "in"));
  ASSERT_TRUE(outputs.has_value()) << outputs.error();
  EXPECT_TRUE(all_near(*outputs, tensors("mlp_lib", "out")));
}

TEST_F(ModelTest, ConstantsComeFromAWeightsBlob) {
  auto model = load("mlp_lib_external", true);
  ASSERT_TRUE(model.has_value()) << model.error();
  const auto outputs = model->run(tensors("mlp_lib_external", "in"));
  ASSERT_TRUE(outputs.has_value()) << outputs.error();
  EXPECT_TRUE(all_near(*outputs, tensors("mlp_lib_external", "out")));
}

TEST_F(ModelTest, WeightsOfTheWrongSizeAreRefusedWithBothSizes) {
  const Footprint before = Footprint::now(temp_.path());
  const auto image = read(model_path("mlp_lib_external", "model.so"));
  auto weights = read(model_path("mlp_lib_external", "weights.blob"));
  const std::string size = std::to_string(weights.size());

  const auto none = Model::load(image, {});
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code(), Code::kNotFound);
  EXPECT_THAT(none.error().to_string(), HasSubstr("needs " + size + " bytes"));

  for (const int change : {-1, 1}) {
    auto wrong = weights;
    wrong.resize(weights.size() + static_cast<std::size_t>(change));
    const auto model = Model::load(image, wrong);
    ASSERT_FALSE(model.has_value());
    EXPECT_EQ(model.error().code(), Code::kInvalidArgument);
    EXPECT_THAT(model.error().to_string(), HasSubstr(size));
    EXPECT_THAT(model.error().to_string(),
                HasSubstr(std::to_string(wrong.size())));
  }
  EXPECT_EQ(Footprint::now(temp_.path()), before);
}

TEST_F(ModelTest, WeightsForALibraryThatHasThemAreRefused) {
  const std::vector<std::byte> weights(100);
  const auto model =
      Model::load(read(model_path("mlp_lib", "model.so")), weights);
  ASSERT_FALSE(model.has_value());
  EXPECT_THAT(model.error().to_string(), HasSubstr("100 bytes of weights"));
}

TEST_F(ModelTest, WeightsAtAnyAddressGiveTheSameResult) {
  const auto image = read(model_path("mlp_lib_external", "model.so"));
  const auto weights = read(model_path("mlp_lib_external", "weights.blob"));
  for (const std::size_t shift : {1u, 4u, 16u, 32u}) {
    std::vector<std::byte> moved(weights.size() + 64);
    std::copy(weights.begin(), weights.end(), moved.begin() + shift);
    auto model =
        Model::load(image, std::span(moved).subspan(shift, weights.size()));
    ASSERT_TRUE(model.has_value()) << model.error();
    const auto outputs = model->run(tensors("mlp_lib_external", "in"));
    ASSERT_TRUE(outputs.has_value()) << outputs.error();
    EXPECT_TRUE(all_near(*outputs, tensors("mlp_lib_external", "out")));
  }
}

TEST_F(ModelTest, FunctionsThatAreNotServedAreAllNamedAtOnce) {
  const Footprint before = Footprint::now(temp_.path());
  const auto model = load("unserved");
  ASSERT_FALSE(model.has_value());
  EXPECT_EQ(model.error().code(), Code::kUnsupported);
  EXPECT_THAT(model.error().to_string(), HasSubstr("_pdist_backward"));
  EXPECT_THAT(model.error().to_string(), HasSubstr("_cdist_backward"));
  EXPECT_EQ(Footprint::now(temp_.path()), before);
}

TEST_F(ModelTest, InputsThatDoNotFitAreRefusedAndTheModelLivesOn) {
  auto model = load("mlp_lib");
  ASSERT_TRUE(model.has_value()) << model.error();
  const auto inputs = tensors("mlp_lib", "in");
  const std::size_t handles = Footprint::now(temp_.path()).handles;

  const auto too_few = model->run({});
  ASSERT_FALSE(too_few.has_value());
  EXPECT_EQ(too_few.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(too_few.error().to_string(),
              HasSubstr("takes 1 inputs, found 0"));

  const std::int64_t shape[] = {2, 64};
  const std::int64_t other_size[] = {2, 63};
  const std::int64_t other_rank[] = {2, 64, 1};
  const std::int64_t transposed[] = {1, 2};
  std::vector<float> values(256);
  const auto make = [&](std::span<const std::int64_t> sizes,
                        std::span<const std::int64_t> strides, DType dtype) {
    return *Tensor::borrow(values.data(), values.size() * sizeof(float), sizes,
                           strides, dtype);
  };
  const Tensor wrong[] = {make(other_size, {}, DType::kFloat32),
                          make(other_rank, {}, DType::kFloat32),
                          make(shape, {}, DType::kInt32)};
  for (const Tensor& input : wrong) {
    const auto outputs = model->run({&input, 1});
    ASSERT_FALSE(outputs.has_value());
    EXPECT_EQ(outputs.error().code(), Code::kInvalidArgument);
    EXPECT_EQ(Footprint::now(temp_.path()).handles, handles);
  }
  // The same elements in another order are taken.
  Tensor turned = make(shape, transposed, DType::kFloat32);
  ASSERT_TRUE(turned.copy_from(inputs[0]));
  const auto same = model->run({&turned, 1});
  ASSERT_TRUE(same.has_value()) << same.error();
  EXPECT_TRUE(all_near(*same, tensors("mlp_lib", "out")));
  const auto outputs = model->run(inputs);
  ASSERT_TRUE(outputs.has_value()) << outputs.error();
  EXPECT_TRUE(all_near(*outputs, tensors("mlp_lib", "out")));
}

TEST_F(ModelTest, OutputsGoIntoTheCallersMemory) {
  auto model = load("mlp_lib");
  ASSERT_TRUE(model.has_value()) << model.error();
  const auto expected = tensors("mlp_lib", "out");
  std::vector<Tensor> outputs = {
      *Tensor::empty(expected[0].sizes(), DType::kFloat32)};
  const void* memory = outputs[0].data();
  ASSERT_TRUE(model->run(tensors("mlp_lib", "in"), outputs).has_value());
  EXPECT_EQ(outputs[0].data(), memory);
  EXPECT_TRUE(all_near(outputs, expected));

  const std::int64_t wrong[] = {3};
  outputs[0] = *Tensor::empty(wrong, DType::kFloat32);
  const Status status = model->run(tensors("mlp_lib", "in"), outputs);
  ASSERT_FALSE(status.has_value());
  EXPECT_THAT(status.error().to_string(), HasSubstr("copying output 0"));
}

TEST_F(ModelTest, OutputsOutliveTheModel) {
  std::vector<Tensor> outputs;
  {
    auto model = load("mlp_lib");
    ASSERT_TRUE(model.has_value()) << model.error();
    outputs = *model->run(tensors("mlp_lib", "in"));
    EXPECT_TRUE(model->close().has_value());
    const auto closed = model->run(tensors("mlp_lib", "in"));
    ASSERT_FALSE(closed.has_value());
    EXPECT_THAT(closed.error().to_string(), HasSubstr("closed"));
  }
  EXPECT_TRUE(all_near(outputs, tensors("mlp_lib", "out")));
}

TEST_F(ModelTest, AMutatedBufferBelongsToOneModel) {
  auto first = load("stateful");
  auto second = load("stateful");
  ASSERT_TRUE(first.has_value() && second.has_value());
  const auto inputs = tensors("stateful", "in");
  EXPECT_TRUE(all_near(*first->run(inputs), tensors("stateful", "out")));
  EXPECT_TRUE(
      all_near(*first->run(inputs), tensors("stateful", "out", "_run2")));
  EXPECT_TRUE(all_near(*second->run(inputs), tensors("stateful", "out")));
  EXPECT_TRUE(
      all_near(*first->run(inputs), tensors("stateful", "out", "_run3")));
  EXPECT_TRUE(
      all_near(*second->run(inputs), tensors("stateful", "out", "_run2")));
}

TEST_F(ModelTest, ManyRunsLeaveNoHandleBehind) {
  auto model = load("mlp_lib");
  ASSERT_TRUE(model.has_value()) << model.error();
  const auto inputs = tensors("mlp_lib", "in");
  ASSERT_TRUE(model->run(inputs).has_value());
  const Footprint before = Footprint::now(temp_.path());
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(model->run(inputs).has_value());
  EXPECT_EQ(Footprint::now(temp_.path()), before);
}

TEST_F(ModelTest, OverlappingRunsWaitForEachOther) {
  auto model = load("mlp_lib");
  ASSERT_TRUE(model.has_value()) << model.error();
  const auto inputs = tensors("mlp_lib", "in");
  const auto expected = tensors("mlp_lib", "out");
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        const auto outputs = model->run(inputs);
        if (!outputs || !all_near(*outputs, expected)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(ModelTest, EveryCutPointIsAnError) {
  const Footprint before = Footprint::now(temp_.path());
  const auto image = read(model_path("mlp_lib", "model.so"));
  for (std::size_t i = 0; i < 64; ++i) {
    const auto cut = std::span(image).first(image.size() * i / 64);
    const auto model = Model::load(cut);
    ASSERT_FALSE(model.has_value()) << cut.size() << " bytes";
    EXPECT_NE(model.error().code(), Code::kInternal);
  }
  EXPECT_EQ(Footprint::now(temp_.path()), before);
}

// Fault: C and C++ libraries of the host that are too old, or not there.
TEST_F(ModelTest, WhatTheHostLacksIsNamedBeforeAnythingIsMapped) {
  const auto sound = read(model_path("mlp_lib", "model.so"));
  const auto refusal_with = [&](std::string_view old, std::string_view other) {
    auto bytes = sound;
    auto* const begin = reinterpret_cast<char*>(bytes.data());
    const std::string wanted = std::string(1, '\0').append(old).append(1, '\0');
    auto* const found =
        std::search(begin, begin + bytes.size(), wanted.begin(), wanted.end());
    EXPECT_NE(found, begin + bytes.size()) << old;
    std::copy(other.begin(), other.end(), found + 1);
    const auto model = Model::load(bytes);
    EXPECT_FALSE(model.has_value());
    EXPECT_EQ(model.error().code(), Code::kIncompatible);
    return model.error().to_string();
  };
  EXPECT_THAT(refusal_with("GLIBC_2.14", "GLIBC_9.99"),
              HasSubstr("version 'GLIBC_9.99' of 'libc.so.6' is not found"));
  EXPECT_THAT(refusal_with("GLIBCXX_3.4.30", "GLIBCXX_9.4.30"),
              HasSubstr("version 'GLIBCXX_9.4.30' of 'libstdc++.so.6' is not "
                        "found"));
  EXPECT_THAT(refusal_with("libgcc_s.so.1", "libnone_.so.1"),
              HasSubstr("'libnone_.so.1'"));
  EXPECT_EQ(objects_below(temp_.path()), 0u);
}

// Fault: a library that asks for an executable stack, as all compiled by torch
// do, and gets it for the whole process.
TEST_F(ModelTest, TheProcesssStackIsNotMadeExecutable) {
  const auto bytes = read(model_path("mlp_lib", "model.so"));
  ASSERT_TRUE(Inspection::of(bytes)->executable_stack);
  const auto model = Model::load(bytes);
  ASSERT_TRUE(model.has_value()) << model.error();
  std::ifstream maps("/proc/self/maps");
  int stacks = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("[stack]") == std::string::npos) continue;
    ++stacks;
    EXPECT_THAT(line, HasSubstr(" rw-p "));
  }
  EXPECT_EQ(stacks, 1);
}

TEST_F(ModelTest, BytesThatAreNoLibraryAreRefusedForWhatTheyAre) {
  const auto image = read(model_path("mlp_lib", "model.so"));
  const auto refusal = [&](auto spoil) {
    auto bytes = image;
    spoil(bytes);
    const auto model = Model::load(bytes);
    return model ? std::string() : model.error().to_string();
  };
  EXPECT_THAT(refusal([](auto& b) { b.assign(200, std::byte{'x'}); }),
              HasSubstr("not an ELF file"));
  EXPECT_THAT(refusal([](auto& b) { b[4] = std::byte{1}; }),
              HasSubstr("64-bit"));
  EXPECT_THAT(refusal([](auto& b) { b[18] = std::byte{183}; }),
              HasSubstr("AArch64"));
  EXPECT_NE(refusal([](auto& b) { b.clear(); }), "");
}

TEST_F(ModelTest, AModelForABetterCpuIsRefusedBeforeItRuns) {
  const auto image = read(model_path("mlp_lib", "model.so"));
  ModelOptions options;
  options.instruction_set = "AVX512 AVX512_VNNI AMX_TILE";
  const auto model = Model::load(image, {}, options);
  if (model.has_value()) GTEST_SKIP() << "this CPU runs AMX";
  EXPECT_EQ(model.error().code(), Code::kIncompatible);
  EXPECT_THAT(model.error().to_string(), HasSubstr("AMX_TILE"));
}

}  // namespace
}  // namespace berth::testing
