// Layers of LSTM as delegates call them, rightly and wrongly, and by
// themselves.
#include "shim/ops/lstm.h"

#include <gmock/gmock.h>

#include <cmath>
#include <thread>
#include <vector>

#include "shim/functions.h"
#include "shim/reason.h"

namespace berth::shim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Numbers = std::vector<std::int64_t>;

// Small numbers without a pattern.
Tensor filled(const Numbers& sizes, int seed, DType dtype = DType::kFloat32) {
  Tensor tensor = *Tensor::empty(sizes, DType::kFloat32);
  auto* data = static_cast<float*>(tensor.data());
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    data[i] = static_cast<float>((i * 37 + seed * 11) % 23 - 11) / 16;
  if (dtype == DType::kFloat32) return tensor;
  return *Tensor::empty(sizes, dtype);
}

struct Layer {
  std::int64_t steps, batch, features, hidden;
  Numbers state{1, batch, hidden};
  DType dtype = DType::kFloat32;
  Tensor x = filled({steps, batch, features}, 1, dtype);
  Tensor w = filled({4 * hidden, features}, 2, dtype);
  Tensor u = filled({4 * hidden, hidden}, 3, dtype);
  Tensor b = filled({4 * hidden}, 4, dtype);
  Tensor d = filled({4 * hidden}, 5, dtype);
  Tensor h = filled(state, 6, dtype);
  Tensor c = filled(state, 7, dtype);

  LstmCall call(bool biases = true, bool reverse = false) const {
    return {
        &x, &w,     &u,     biases ? &b : nullptr, biases ? &d : nullptr, &h,
        &c, hidden, reverse};
  }
};

const float* data(const Tensor& tensor) {
  return static_cast<const float*>(tensor.data());
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// One step for one element of the batch, in double.
void step(const Layer& l, bool biases, const float* x, std::vector<double>& h,
          std::vector<double>& c) {
  std::vector<double> gates(static_cast<std::size_t>(4 * l.hidden));
  for (std::int64_t g = 0; g < 4 * l.hidden; ++g) {
    double sum = biases ? data(l.b)[g] + data(l.d)[g] : 0;
    for (std::int64_t i = 0; i < l.features; ++i)
      sum += double{data(l.w)[g * l.features + i]} * x[i];
    for (std::int64_t i = 0; i < l.hidden; ++i)
      sum += double{data(l.u)[g * l.hidden + i]} * h[i];
    gates[g] = sum;
  }
  for (std::int64_t i = 0; i < l.hidden; ++i) {
    c[i] = sigmoid(gates[l.hidden + i]) * c[i] +
           sigmoid(gates[i]) * std::tanh(gates[2 * l.hidden + i]);
    h[i] = sigmoid(gates[3 * l.hidden + i]) * std::tanh(c[i]);
  }
}

void expect_naive(const Layer& l, const LstmResult& found, bool biases,
                  bool reverse) {
  for (std::int64_t n = 0; n < l.batch; ++n) {
    const std::int64_t at = n * l.hidden;
    std::vector<double> h(data(l.h) + at, data(l.h) + at + l.hidden);
    std::vector<double> c(data(l.c) + at, data(l.c) + at + l.hidden);
    for (std::int64_t t = 0; t < l.steps; ++t) {
      const std::int64_t place = (reverse ? l.steps - 1 - t : t) * l.batch + n;
      step(l, biases, data(l.x) + place * l.features, h, c);
      for (std::int64_t i = 0; i < l.hidden; ++i)
        ASSERT_NEAR(data(found.output)[place * l.hidden + i], h[i], 1e-5);
    }
    for (std::int64_t i = 0; i < l.hidden; ++i) {
      ASSERT_NEAR(data(found.hidden)[at + i], h[i], 1e-5);
      ASSERT_NEAR(data(found.cell)[at + i], c[i], 1e-5);
    }
  }
}

TEST(Lstm, GivesWhatALoopGives) {
  for (const Layer& l : {Layer{1, 1, 1, 1}, Layer{5, 3, 4, 6},
                         Layer{4, 1, 17, 16}, Layer{3, 5, 8, 33}}) {
    for (const bool biases : {false, true}) {
      for (const bool reverse : {false, true}) {
        const Result<LstmResult> found = lstm(l.call(biases, reverse));
        ASSERT_TRUE(found.has_value()) << found.error().to_string();
        EXPECT_THAT(found->output.sizes(),
                    ElementsAre(l.steps, l.batch, l.hidden));
        expect_naive(l, *found, biases, reverse);
      }
    }
  }
}

TEST(Lstm, KeepsTheSizesOfTheState) {
  const Layer l{2, 3, 4, 5, {3, 5}};
  const LstmResult found = *lstm(l.call());
  EXPECT_THAT(found.hidden.sizes(), ElementsAre(3, 5));
  expect_naive(l, found, true, false);
}

TEST(Lstm, WithoutStepsOrBatchHasNothingToDo) {
  const Layer still{0, 2, 3, 4};
  const LstmResult found = *lstm(still.call());
  EXPECT_EQ(found.output.numel(), 0);
  EXPECT_EQ(data(found.hidden)[5], data(still.h)[5]);
  EXPECT_EQ(data(found.cell)[5], data(still.c)[5]);
  EXPECT_THAT(lstm(Layer{3, 0, 3, 4}.call())->output.sizes(),
              ElementsAre(3, 0, 4));
}

TEST(Lstm, RunsOnManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([i] {
      const Layer l{4, 2, 8 + i % 2, 16};
      for (int run = 0; run < 20; ++run) {
        const Result<LstmResult> found = lstm(l.call());
        ASSERT_TRUE(found.has_value()) << found.error().to_string();
        expect_naive(l, *found, true, false);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

struct Misuse {
  const char* name;
  void (*spoil)(Layer&);
  const char* says;
  Code code = Code::kInvalidArgument;
};

class LstmRejects : public testing::TestWithParam<Misuse> {};

TEST_P(LstmRejects, WithTheNumbers) {
  Layer l{2, 3, 4, 5};
  GetParam().spoil(l);
  const Result<LstmResult> found = lstm(l.call());
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code(), GetParam().code);
  EXPECT_THAT(found.error().to_string(), HasSubstr(GetParam().says));
}

const Misuse kMisuses[] = {
    {"InputRank",
     [](Layer& l) {
       l.x = filled({2, 4}, 1);
     },
     "3 dimensions, found sizes [2, 4]"},
    {"HiddenSize", [](Layer& l) { l.hidden = 0; }, "at least 1, found 0"},
    {"HugeHiddenSize", [](Layer& l) { l.hidden = std::int64_t{1} << 62; },
     "found 4611686018427387904"},
    {"Features",
     [](Layer& l) {
       l.w = filled({20, 3}, 1);
     },
     "input weight of an LSTM to have sizes [20, 4], found [20, 3]"},
    {"Gates",
     [](Layer& l) {
       l.u = filled({15, 5}, 1);
     },
     "hidden weight of an LSTM to have sizes [20, 5], found [15, 5]"},
    {"Bias", [](Layer& l) { l.d = filled({5}, 1); }, "bias"},
    {"Hidden",
     [](Layer& l) {
       l.h = filled({1, 2, 5}, 1);
     },
     "hidden state of an LSTM to have sizes [1, 3, 5], found [1, 2, 5]"},
    {"Cell", [](Layer& l) { l.c = filled({5}, 1); }, "cell state"},
    {"DType",
     [](Layer& l) {
       l.u = filled({20, 5}, 1, DType::kFloat64);
     },
     "float32 like its input, found float64"},
    {"Doubles",
     [](Layer& l) {
       l = Layer{2, 3, 4, 5, {3, 5}, DType::kFloat64};
     },
     "an LSTM of float64", Code::kUnsupported},
};
INSTANTIATE_TEST_SUITE_P(Table, LstmRejects, testing::ValuesIn(kMisuses),
                         [](const auto& p) { return p.param.name; });

TEST(LstmEntry, TakesHandlesAndTorchsMode) {
  const Layer l{2, 1, 3, 4};
  std::vector<AtenTensorHandle> in;
  for (const Tensor* each : {&l.x, &l.w, &l.u, &l.b, &l.d, &l.h, &l.c})
    in.push_back(wrap(Tensor(*each)));
  AtenTensorHandle out[4] = {};
  const auto run = [&](std::int64_t packed, std::int64_t mode, bool biases) {
    return aoti_berth_cpu_mkldnn_rnn_layer(
        in[0], in[1], in[2], biases ? in[3] : nullptr, biases ? in[4] : nullptr,
        in[5], in[6], 0, nullptr, packed, mode, 4, 1, biases, 0, 0, 0, &out[0],
        &out[1], &out[2], &out[3]);
  };
  for (const bool biases : {true, false}) {
    ASSERT_EQ(run(0, 2, biases), 0) << take_reason();
    const LstmResult found{unwrap(out[0]), unwrap(out[1]), unwrap(out[2])};
    expect_naive(l, found, biases, false);
    EXPECT_FALSE(unwrap(out[3]).has_storage());
  }
  EXPECT_EQ(run(0, 3, true), 1);
  EXPECT_THAT(take_reason(), HasSubstr("of mode 3 are not served"));
  EXPECT_EQ(run(2, 2, true), 1);
  EXPECT_THAT(take_reason(), HasSubstr("packed sequences (2 batch sizes)"));
  std::swap(in[0], in[1]);
  EXPECT_EQ(run(0, 2, true), 1);
  EXPECT_THAT(take_reason(), HasSubstr("aoti_berth_cpu_mkldnn_rnn_layer: "));
  for (AtenTensorHandle handle : in) discard(handle);
}

}  // namespace
}  // namespace berth::shim
