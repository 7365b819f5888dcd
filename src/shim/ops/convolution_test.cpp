// Convolutions as delegates call them, rightly and wrongly, and by themselves.
#include "shim/ops/convolution.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <optional>
#include <thread>
#include <vector>

#include "shim/functions.h"
#include "shim/ops/channels_last.h"
#include "shim/reason.h"

namespace berth::shim {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using Numbers = std::vector<std::int64_t>;

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

// The arguments of one convolution, with memory of their own.
struct Case {
  const char* name = "";
  Numbers input;
  Numbers weight;
  Numbers stride{1};
  Numbers padding{0};
  Numbers dilation{1};
  bool transposed = false;
  Numbers output_padding{0};
  std::int64_t groups = 1;
  std::optional<Numbers> bias = std::nullopt;
  DType weight_dtype = DType::kFloat32;
  const char* says = "";
};

ConvolutionCall call_of(const Case& c, const Tensor& input,
                        const Tensor& weight, const Tensor* bias) {
  return {&input,       &weight,          bias,
          c.stride,     c.padding,        c.dilation,
          c.transposed, c.output_padding, c.groups};
}

class ConvolutionRejects : public testing::TestWithParam<Case> {};

TEST_P(ConvolutionRejects, WithTheNumbers) {
  const Case& p = GetParam();
  const Tensor input = *Tensor::empty(p.input, DType::kFloat32);
  const Tensor weight = *Tensor::empty(p.weight, p.weight_dtype);
  const Tensor bias =
      *Tensor::empty(p.bias.value_or(Numbers{}), DType::kFloat32);
  const Result<Tensor> result =
      convolution(call_of(p, input, weight, p.bias ? &bias : nullptr));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(result.error().to_string(), HasSubstr(p.says));
}

Case wrong(const char* name, const char* says) {
  Case c{name, {2, 3, 8, 8}, {4, 3, 3, 3}};
  c.says = says;
  return c;
}

template <typename Change>
Case wrong(const char* name, const char* says, const Change& change) {
  Case c = wrong(name, says);
  change(c);
  return c;
}

const Case kWrong[] = {
    wrong("WeightRank", "3 to 5 dimensions, found sizes [4, 3]",
          [](Case& c) {
            c.weight = {4, 3};
          }),
    wrong("InputRank", "found sizes [3, 8]",
          [](Case& c) {
            c.input = {3, 8};
          }),
    wrong("Channels", "[2, 4, 8, 8] and a weight of sizes [4, 3, 3, 3]",
          [](Case& c) { c.input[1] = 4; }),
    wrong("NoGroups", "at least 1, found 0", [](Case& c) { c.groups = 0; }),
    wrong("Groups", "in 3 groups", [](Case& c) { c.groups = 3; }),
    wrong("HugeGroups", "groups do not make a convolution",
          [](Case& c) { c.groups = kHuge; }),
    wrong("NoChannelsOut", "[0, 3, 3, 3]", [](Case& c) { c.weight[0] = 0; }),
    wrong("TransposedChannels", "transposed convolution",
          [](Case& c) { c.transposed = true; }),
    wrong("Bias", "sizes [4], found [3]", [](Case& c) { c.bias = {3}; }),
    wrong("BiasRank", "found [4, 1]",
          [](Case& c) {
            c.bias = {4, 1};
          }),
    wrong("DType", "weight of float32 like the input of a convolution, found",
          [](Case& c) { c.weight_dtype = DType::kFloat64; }),
    wrong("Strides", "one stride for a convolution, or 2, found [1, 1, 1]",
          [](Case& c) {
            c.stride = {1, 1, 1};
          }),
    wrong("NoStrides", "found []", [](Case& c) { c.stride = {}; }),
    wrong("ZeroStride", "at least 1, found [1, 0]",
          [](Case& c) {
            c.stride = {1, 0};
          }),
    wrong("NegativePadding", "padding of a convolution to be at least 0",
          [](Case& c) { c.padding = {-1}; }),
    wrong("ZeroDilation", "dilation of a convolution to be at least 1",
          [](Case& c) { c.dilation = {0}; }),
    wrong("HugeDilation", "does not fit an input of sizes [8, 8]",
          [](Case& c) { c.dilation = {kHuge}; }),
    wrong("HugePadding", "does not fit", [](Case& c) { c.padding = {kHuge}; }),
    wrong("Kernel", "kernel of sizes [9, 3]", [](Case& c) { c.weight[2] = 9; }),
    wrong("NoKernel", "empty space", [](Case& c) { c.weight[2] = 0; }),
    wrong("NoPixels", "empty space", [](Case& c) { c.input[2] = 0; }),
    wrong("OutputPadding", "found [1]",
          [](Case& c) {
            c.weight = {3, 4, 3, 3};
            c.transposed = true;
            c.output_padding = {1};
          }),
    wrong("TransposedToLess", "does not fit",
          [](Case& c) {
            c.weight = {3, 4, 3, 3};
            c.transposed = true;
            c.padding = {9};
          }),
    wrong("TransposedHugeStride", "does not fit",
          [](Case& c) {
            c.weight = {3, 4, 3, 3};
            c.transposed = true;
            c.stride = {kHuge};
          }),
};
INSTANTIATE_TEST_SUITE_P(Table, ConvolutionRejects, testing::ValuesIn(kWrong),
                         [](const auto& p) { return p.param.name; });

TEST(Convolution, ServesNoDtypeThatTorchDoesNot) {
  const Case c{"", {1, 1, 3, 3}, {1, 1, 1, 1}};
  const Tensor input = *Tensor::empty(c.input, DType::kBool);
  const Tensor weight = *Tensor::empty(c.weight, DType::kBool);
  const auto result = convolution(call_of(c, input, weight, nullptr));
  EXPECT_EQ(result.error().code(), Code::kUnsupported);
  EXPECT_THAT(result.error().to_string(), HasSubstr("bool"));
}

TEST(Convolution, RefusesResultsThatMemoryCannotHold) {
  Case c{"", {1, 1, 1, 1}, {1, 1, 1, 1}};
  c.padding = {kHuge / 8};
  const Tensor one = *Tensor::empty(c.input, DType::kFloat32);
  EXPECT_FALSE(convolution(call_of(c, one, one, nullptr)).has_value());
  c.padding = {std::int64_t{1} << 28};
  EXPECT_EQ(convolution(call_of(c, one, one, nullptr)).error().code(),
            Code::kOutOfMemory);
}

// Whole numbers, so that sums are exact in any order.
Tensor filled(const Numbers& sizes, const Numbers& strides, int seed) {
  Tensor tensor = *Tensor::empty_strided(sizes, strides, DType::kFloat32);
  auto* data = static_cast<float*>(tensor.data());
  const auto count = tensor.storage_size_bytes() / sizeof(float);
  for (std::size_t i = 0; i < count; ++i)
    data[i] =
        static_cast<float>((i * 7 + static_cast<std::size_t>(seed)) % 5) - 2;
  return tensor;
}

float at(const Tensor& tensor, const Quintuple& index,
         const ConvolutionShape& shape) {
  const Volume volume = volume_of(tensor, shape);
  std::int64_t place = 0;
  for (std::size_t i = 0; i < 5; ++i) place += index[i] * volume.strides[i];
  return static_cast<const float*>(tensor.data())[place];
}

// The input's place that the place `o` of the output meets at `k` in the
// kernel, in the dimension `i`; -1 for none.
std::int64_t met(const ConvolutionShape& s, std::size_t i, std::int64_t o,
                 std::int64_t k) {
  const std::int64_t reach = k * s.dilation[i] - s.padding[i];
  std::int64_t place = o * s.stride[i] + reach;
  if (s.transposed) {
    place = o - reach;
    if (place % s.stride[i] != 0) return -1;
    place /= s.stride[i];
  }
  return place < s.input[i] ? place : -1;
}

float naive(const ConvolutionCall& call, const ConvolutionShape& s,
            const Quintuple& o) {
  const std::int64_t in_each = s.in_channels / s.groups;
  const std::int64_t out_each = s.out_channels / s.groups;
  float sum = call.bias == nullptr
                  ? 0
                  : static_cast<const float*>(
                        call.bias->data())[o[1] * call.bias->strides()[0]];
  for (std::int64_t c = 0; c < in_each; ++c) {
    const std::int64_t source = o[1] / out_each * in_each + c;
    const Quintuple w =
        s.transposed ? Quintuple{source, o[1] % out_each} : Quintuple{o[1], c};
    for (std::int64_t z = 0; z < s.kernel[0]; ++z)
      for (std::int64_t y = 0; y < s.kernel[1]; ++y)
        for (std::int64_t x = 0; x < s.kernel[2]; ++x) {
          const Quintuple from{o[0], source, met(s, 0, o[2], z),
                               met(s, 1, o[3], y), met(s, 2, o[4], x)};
          if (from[2] < 0 || from[3] < 0 || from[4] < 0) continue;
          sum += at(*call.input, from, s) *
                 at(*call.weight, {w[0], w[1], z, y, x}, s);
        }
  }
  return sum;
}

void expect_naive(const ConvolutionCall& call, const Tensor& found) {
  const ConvolutionShape s = *check_convolution(call);
  const Quintuple sizes = s.output_sizes();
  Quintuple o{};
  for (o[0] = 0; o[0] < sizes[0]; ++o[0])
    for (o[1] = 0; o[1] < sizes[1]; ++o[1])
      for (o[2] = 0; o[2] < sizes[2]; ++o[2])
        for (o[3] = 0; o[3] < sizes[3]; ++o[3])
          for (o[4] = 0; o[4] < sizes[4]; ++o[4])
            ASSERT_EQ(at(found, o, s), naive(call, s, o))
                << o[0] << ' ' << o[1] << ' ' << o[2] << ' ' << o[3] << ' '
                << o[4];
}

// Strides: row-major, channels last, with gaps, the last two turned, repeated.
std::vector<Numbers> strides_of(const Numbers& sizes) {
  const std::size_t rank = sizes.size();
  Numbers rows(rank);
  tensor::contiguous_strides(sizes, rows.data());
  Numbers gaps = rows;
  for (std::int64_t& each : gaps) each *= 3;
  Numbers last(rank);
  std::int64_t stride = sizes[1];
  last[1] = 1;
  for (std::size_t i = rank - 1; i >= 2; stride *= sizes[i--]) last[i] = stride;
  last[0] = stride;
  Numbers turned = rows;
  turned[rank - 2] = 1;
  turned[rank - 1] = sizes[rank - 2];
  Numbers repeated = rows;
  repeated[0] = 0;
  return {rows, last, gaps, turned, repeated};
}

class ConvolutionGives : public testing::TestWithParam<Case> {};

TEST_P(ConvolutionGives, WhatALoopGives) {
  const Case& p = GetParam();
  for (const Numbers& input_strides : strides_of(p.input)) {
    for (const Numbers& weight_strides : strides_of(p.weight)) {
      const Tensor input = filled(p.input, input_strides, 1);
      const Tensor weight = filled(p.weight, weight_strides, 3);
      const Tensor bias = filled(p.bias.value_or(Numbers{1}), {2}, 4);
      const ConvolutionCall call =
          call_of(p, input, weight, p.bias ? &bias : nullptr);
      const Result<Tensor> found = convolution(call);
      ASSERT_TRUE(found.has_value()) << found.error().to_string();
      expect_naive(call, *found);
    }
  }
}

Case turned(Case c) {
  c.transposed = true;
  return c;
}

const Case kRight[] = {
    {"Image", {2, 3, 6, 5}, {4, 3, 3, 2}, {1}, {1}},
    {"Strided", {1, 3, 9, 8}, {4, 3, 3, 3}, {2, 3}, {0, 2}},
    {"Dilated", {2, 2, 9, 9}, {3, 2, 3, 3}, {1}, {2}, {2}},
    {"PaddedBeyond", {1, 2, 2, 2}, {3, 2, 2, 2}, {1}, {6}},
    {"Depthwise", {2, 4, 5, 5}, {4, 1, 3, 3}, {1}, {1}, {1}, false, {0}, 4},
    {"Groups",
     {1, 6, 5, 5},
     {4, 3, 2, 2},
     {1},
     {0},
     {1},
     false,
     {0},
     2,
     Numbers{4}},
    {"Blocks",
     {1, 16, 6, 6},
     {32, 16, 3, 3},
     {1},
     {1},
     {1},
     false,
     {0},
     1,
     Numbers{32}},
    {"Line", {2, 3, 11}, {4, 3, 3}, {2}, {1}},
    {"Volume", {1, 2, 4, 5, 6}, {3, 2, 2, 3, 3}, {1, 2, 1}, {1}},
    {"One", {1, 1, 1, 1}, {1, 1, 1, 1}},
    turned({"Turned", {2, 4, 4, 5}, {4, 3, 3, 2}, {2}, {1}}),
    {"TurnedGroups",
     {1, 4, 4, 4},
     {4, 3, 2, 2},
     {3},
     {0},
     {1},
     true,
     {2},
     2,
     Numbers{6}},
    // More output padding than stride: not oneDNN's.
    {"TurnedDilated", {1, 2, 3, 3}, {2, 3, 2, 2}, {1}, {0}, {3}, true, {2}},
    turned({"TurnedLine", {2, 3, 7}, {3, 2, 4}, {2}}),
    turned({"TurnedVolume", {1, 2, 3, 3, 4}, {2, 3, 2, 2, 3}, {2}}),
};
INSTANTIATE_TEST_SUITE_P(Table, ConvolutionGives, testing::ValuesIn(kRight),
                         [](const auto& p) { return p.param.name; });

TEST(Convolution, OfNoImagesIsEmpty) {
  const Case c{"", {0, 3, 8, 8}, {4, 3, 3, 3}};
  const Tensor input = *Tensor::empty(c.input, DType::kFloat32);
  const Tensor weight = *Tensor::empty(c.weight, DType::kFloat32);
  const Tensor found = *convolution(call_of(c, input, weight, nullptr));
  EXPECT_THAT(found.sizes(), ElementsAre(0, 4, 6, 6));
}

TEST(Convolution, KeepsChannelsLast) {
  const Case c{"", {2, 3, 8, 8}, {4, 3, 3, 3}};
  const Tensor input = filled(c.input, strides_of(c.input)[1], 1);
  const Tensor rows = filled(c.input, strides_of(c.input)[0], 1);
  const Tensor weight = filled(c.weight, strides_of(c.weight)[0], 2);
  const Tensor last = filled(c.weight, strides_of(c.weight)[1], 2);
  const auto strides = [&](const Tensor& x, const Tensor& w) {
    const Tensor found = *convolution(call_of(c, x, w, nullptr));
    return Numbers(found.strides().begin(), found.strides().end());
  };
  const Numbers channels_last{144, 1, 24, 4};
  EXPECT_THAT(strides(input, weight), ElementsAreArray(channels_last));
  EXPECT_THAT(strides(rows, last), ElementsAreArray(channels_last));
  EXPECT_THAT(strides(rows, weight), ElementsAre(144, 36, 6, 1));
}

TEST(Convolution, RunsOnManyThreadsAtOnce) {
  const Case c{"", {1, 16, 8, 8}, {16, 16, 3, 3}, {1}, {1}};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&c, i] {
      const Tensor input = filled(c.input, strides_of(c.input)[i % 2], i);
      const Tensor weight = filled(c.weight, strides_of(c.weight)[0], i);
      const ConvolutionCall call = call_of(c, input, weight, nullptr);
      for (int run = 0; run < 20; ++run) {
        const Result<Tensor> found = convolution(call);
        ASSERT_TRUE(found.has_value()) << found.error().to_string();
        if (run % 19 == 0) expect_naive(call, *found);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(ConvolutionEntry, TakesHandlesAndLists) {
  AtenTensorHandle input = wrap(filled({1, 1, 3, 3}, {9, 9, 3, 1}, 0));
  AtenTensorHandle weight = wrap(filled({1, 1, 1, 1}, {1, 1, 1, 1}, 4));
  AtenTensorHandle bias = wrap(filled({1}, {1}, 3));
  AtenTensorHandle none = nullptr;
  AtenTensorHandle out = nullptr;
  const std::int64_t ones[] = {1, 1};
  const std::int64_t zeros[] = {0, 0};
  const auto run = [&](AtenTensorHandle* with, const std::int64_t* stride,
                       std::int64_t count) {
    return aoti_berth_cpu_convolution(input, weight, with, stride, count, zeros,
                                      2, ones, 2, 0, zeros, 2, 1, &out);
  };
  // The weight is 2, the input's first pixel -2, the bias 1.
  for (AtenTensorHandle* with :
       {static_cast<AtenTensorHandle*>(nullptr), &none, &bias}) {
    ASSERT_EQ(run(with, ones, 2), 0) << take_reason();
    const Tensor found = unwrap(out);
    const auto* data = static_cast<const float*>(found.data());
    EXPECT_EQ(data[0], with == &bias ? -3 : -4);
  }
  EXPECT_EQ(run(nullptr, nullptr, 2), 1);
  EXPECT_THAT(take_reason(), HasSubstr("aoti_berth_cpu_convolution: "));
  EXPECT_EQ(run(nullptr, ones, -1), 1);
  EXPECT_THAT(take_reason(), HasSubstr("stride of a convolution, found -1"));
  for (AtenTensorHandle handle : {input, weight, bias}) discard(handle);
}

}  // namespace
}  // namespace berth::shim
