// Attention beside the textbook's formula, and called wrongly. The numbers of
// torch are in tests/operators/test_attention.py.
#include "shim/ops/attention.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "shim/functions.h"
#include "shim/reason.h"

namespace berth::shim {
namespace {

using testing::HasSubstr;
using Numbers = std::vector<std::int64_t>;

constexpr float kNever = -std::numeric_limits<float>::infinity();

float* floats(const Tensor& tensor) {
  return static_cast<float*>(tensor.data());
}

Tensor random(const Numbers& sizes, unsigned seed) {
  Tensor tensor = *Tensor::empty(sizes, DType::kFloat32);
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> value(-2, 2);
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    floats(tensor)[i] = value(engine);
  return tensor;
}

// Of a tensor of three or four dimensions.
float at(const Tensor& t, std::int64_t b, std::int64_t h, std::int64_t i,
         std::int64_t d = 0) {
  const auto s = t.strides();
  return floats(
      t)[b * s[0] + h * s[1] + i * s[2] + (t.dim() > 3 ? d * s[3] : 0)];
}

// The whole row of scores at once, in double; masks are [length, length].
std::vector<double> scores_of(const AttentionArguments& a, std::int64_t b,
                              std::int64_t h, std::int64_t i) {
  const auto q = a.query.sizes();
  const auto k = a.key.sizes();
  const std::int64_t shared = h / (q[1] / k[1]);
  const double scale =
      a.scale.value_or(1 / std::sqrt(static_cast<double>(q[3])));
  std::vector<double> scores;
  for (std::int64_t j = 0; j < k[2]; ++j) {
    double sum = 0;
    for (std::int64_t d = 0; d < q[3]; ++d)
      sum += double{at(a.query, b, h, i, d)} * at(a.key, b, shared, j, d);
    sum *= scale;
    if (a.mask != nullptr)
      sum +=
          floats(*a.mask)[i * a.mask->strides()[0] + j * a.mask->strides()[1]];
    if (a.causal && j > i) sum = kNever;
    scores.push_back(sum);
  }
  return scores;
}

void expect_formula(const AttentionArguments& a) {
  const auto result = attention(a);
  ASSERT_TRUE(result.has_value()) << result.error().to_string();
  const auto q = a.query.sizes();
  const std::int64_t group = q[1] / a.key.sizes()[1];
  for (std::int64_t b = 0; b < q[0]; ++b)
    for (std::int64_t h = 0; h < q[1]; ++h)
      for (std::int64_t i = 0; i < q[2]; ++i) {
        const std::vector<double> scores = scores_of(a, b, h, i);
        double total = 0;
        for (const double score : scores) total += std::exp(score);
        const double normalizer = total == 0 ? 0 : std::log(total);
        EXPECT_NEAR(at(result->normalizer, b, h, i), normalizer, 1e-4);
        for (std::int64_t d = 0; d < q[3]; ++d) {
          double sum = 0;
          for (std::size_t j = 0; j < scores.size(); ++j)
            sum += std::exp(scores[j]) *
                   at(a.value, b, h / group, static_cast<std::int64_t>(j), d);
          EXPECT_NEAR(at(result->output, b, h, i, d),
                      total == 0 ? 0 : sum / total, 1e-4);
        }
      }
}

struct Shape {
  std::int64_t batches, heads, key_heads, queries, keys, width;
};

class AttentionIs : public testing::TestWithParam<Shape> {};

TEST_P(AttentionIs, TheFormula) {
  const Shape& p = GetParam();
  const Tensor q = random({p.batches, p.heads, p.queries, p.width}, 1);
  const Tensor k = random({p.batches, p.key_heads, p.keys, p.width}, 2);
  const Tensor v = random({p.batches, p.key_heads, p.keys, p.width}, 3);
  const Tensor mask = random({p.queries, p.keys}, 4);
  for (std::int64_t j = 0; j < p.keys; ++j) floats(mask)[j] = kNever;
  for (const bool causal : {false, true}) {
    expect_formula({q, k, v, nullptr, 0, causal, {}});
    expect_formula({q, k, v, nullptr, 0, causal, 0.3});
    expect_formula({q, k, v, &mask, 0, causal, {}});
  }
}

const Shape kShapes[] = {
    {1, 1, 1, 1, 1, 1},    {2, 4, 2, 3, 5, 7},     {1, 2, 1, 40, 150, 16},
    {1, 1, 1, 150, 40, 9}, {1, 2, 2, 130, 131, 8}, {1, 3, 1, 1, 300, 33},
    {1, 6, 2, 2, 9, 20},   {2, 1, 1, 17, 129, 4},
};
INSTANTIATE_TEST_SUITE_P(Shapes, AttentionIs, testing::ValuesIn(kShapes));

TEST(Attention, ReadsAnyStridesAndKeepsThoseOfTheQuery) {
  const Tensor base = random({2, 6, 3, 8}, 1);
  const Tensor q = *base.view(Numbers{2, 3, 6, 8}, Numbers{144, 8, 24, 1}, 0);
  const Tensor k = *base.view(Numbers{2, 3, 4, 8}, Numbers{144, 48, 1, 4}, 3);
  const Tensor v = *base.view(Numbers{2, 3, 4, 8}, Numbers{144, 24, 0, 2}, 1);
  const Tensor row = random({9}, 2);
  const Tensor mask = *row.view(Numbers{6, 4}, Numbers{1, 1}, 0);
  expect_formula({q, k, v, &mask});
  const AttentionResult result = *attention({q, k, v});
  EXPECT_THAT(result.output.strides(), testing::ElementsAre(144, 8, 24, 1));
  EXPECT_THAT(result.normalizer.strides(), testing::ElementsAre(18, 1, 3));
}

TEST(Attention, OfNoQueriesOrBatchesIsEmpty) {
  for (const Numbers& sizes : {Numbers{0, 2, 3, 4}, Numbers{2, 0, 3, 4},
                               Numbers{2, 2, 0, 4}, Numbers{2, 2, 3, 0}}) {
    const Tensor q = random(sizes, 1);
    const auto result = attention({q, q, q});
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(result->output.numel(), 0);
    EXPECT_THAT(result->output.sizes(), testing::ElementsAreArray(sizes));
  }
}

TEST(Attention, ToNoKeysIsZero) {
  const Tensor q = random({1, 2, 3, 4}, 1);
  const Tensor none = random({1, 2, 0, 4}, 1);
  const AttentionResult result = *attention({q, none, none});
  for (int i = 0; i < 24; ++i) EXPECT_EQ(floats(result.output)[i], 0);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(floats(result.normalizer)[i], 0);
}

TEST(Attention, PassesNaNOn) {
  const Tensor q = random({1, 1, 2, 4}, 1);
  const Tensor k = random({1, 1, 3, 4}, 2);
  floats(q)[1] = std::numeric_limits<float>::quiet_NaN();
  const AttentionResult result = *attention({q, k, k});
  for (int d = 0; d < 4; ++d) {
    EXPECT_TRUE(std::isnan(floats(result.output)[d]));
    EXPECT_FALSE(std::isnan(floats(result.output)[4 + d]));
  }
}

// A score beyond what exp() of a float holds.
TEST(Attention, HoldsLargeScores) {
  const Tensor q = random({1, 1, 20, 4}, 1);
  expect_formula({q, q, q, nullptr, 0, false, 15});
  const Tensor mask = random({20, 20}, 2);
  for (std::int64_t i = 0; i < 400; ++i)
    floats(mask)[i] = std::numeric_limits<float>::lowest();
  const AttentionResult result = *attention({q, q, q, &mask});
  float sum = 0;
  for (std::int64_t i = 0; i < 20; ++i) sum += floats(q)[i * 4];
  EXPECT_NEAR(floats(result.output)[0], sum / 20, 1e-5);
}

long peak_kib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// All scores would be 512 MiB, those of one head 64 MiB.
TEST(Attention, NeedsNoMemoryForAllScores) {
  const Tensor q = random({1, 8, 4096, 4}, 1);
  const long before = peak_kib();
  const auto result = attention({q, q, q});
  ASSERT_TRUE(result.has_value());
  EXPECT_LT(peak_kib() - before, 32 << 10);
}

void in_threads(const std::function<void()>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(body);
  for (std::thread& thread : threads) thread.join();
}

TEST(Attention, IsTheSameFromSeveralThreadsAtOnce) {
  const Tensor q = random({2, 4, 150, 32}, 1);
  const AttentionResult expected = *attention({q, q, q});
  in_threads([&] {
    const AttentionResult found = *attention({q, q, q});
    EXPECT_EQ(std::memcmp(found.output.data(), expected.output.data(),
                          expected.output.size_bytes()),
              0);
  });
}

// A query, key, value and mask that do not fit, and what the error says.
struct Misuse {
  const char* name;
  Numbers q, k, v, mask;
  DType q_type, k_type, v_type, mask_type;
  Code code;
  const char* says;
};

class AttentionRejects : public testing::TestWithParam<Misuse> {};

TEST_P(AttentionRejects, WithTheNumbers) {
  const Misuse& p = GetParam();
  const Tensor q = *Tensor::empty(p.q, p.q_type);
  const Tensor k = *Tensor::empty(p.k, p.k_type);
  const Tensor v = *Tensor::empty(p.v, p.v_type);
  const Tensor mask = *Tensor::empty(p.mask, p.mask_type);
  const auto result = attention({q, k, v, &mask});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code(), p.code);
  EXPECT_THAT(result.error().to_string(), HasSubstr(p.says));
}

constexpr DType kF = DType::kFloat32;
constexpr DType kD = DType::kFloat64;
constexpr Code kBad = Code::kInvalidArgument;
const Numbers kQ{2, 4, 5, 8};
const Numbers kK{2, 4, 7, 8};
const Numbers kMask{5, 7};

const Misuse kMisuses[] = {
    {"Integers", kQ, kK, kK, kMask, DType::kInt32, kF, kF, kF,
     Code::kUnsupported, "found int32"},
    {"KeyDType", kQ, kK, kK, kMask, kF, kD, kF, kF, kBad,
     "found float64 and float32"},
    {"ValueDType", kQ, kK, kK, kMask, kF, kF, kD, kF, kBad,
     "found float32 and float64"},
    {"MaskDType", kQ, kK, kK, kMask, kF, kF, kF, kD, kBad,
     "float32 or float32, found float64"},
    {"BoolMask", kQ, kK, kK, kMask, kF, kF, kF, DType::kBool, kBad,
     "found bool"},
    {"Rank", {4, 5, 8}, kK, kK, kMask, kF, kF, kF, kF, kBad, "found [4, 5, 8]"},
    {"KeyRank", kQ, {4, 7, 8}, kK, kMask, kF, kF, kF, kF, kBad, "[4, 7, 8]"},
    {"Batch",
     kQ,
     {1, 4, 7, 8},
     {1, 4, 7, 8},
     kMask,
     kF,
     kF,
     kF,
     kF,
     kBad,
     "[1, 4, 7, 8]"},
    {"Length",
     kQ,
     kK,
     {2, 4, 6, 8},
     kMask,
     kF,
     kF,
     kF,
     kF,
     kBad,
     "[2, 4, 6, 8]"},
    {"ValueWidth",
     kQ,
     kK,
     {2, 4, 7, 9},
     kMask,
     kF,
     kF,
     kF,
     kF,
     kBad,
     "[2, 4, 7, 9]"},
    {"KeyWidth",
     kQ,
     {2, 4, 7, 9},
     {2, 4, 7, 9},
     kMask,
     kF,
     kF,
     kF,
     kF,
     kBad,
     "[2, 4, 7, 9]"},
    {"Group",
     kQ,
     {2, 3, 7, 8},
     {2, 3, 7, 8},
     kMask,
     kF,
     kF,
     kF,
     kF,
     kBad,
     "heads"},
    {"MoreKeyHeads",
     kQ,
     {2, 8, 7, 8},
     {2, 8, 7, 8},
     kMask,
     kF,
     kF,
     kF,
     kF,
     kBad,
     "[2, 8, 7, 8]"},
    {"NoKeyHeads",
     kQ,
     {2, 0, 7, 8},
     {2, 0, 7, 8},
     kMask,
     kF,
     kF,
     kF,
     kF,
     kBad,
     "[2, 0, 7, 8]"},
    {"MaskSizes",
     kQ,
     kK,
     kK,
     {5, 6},
     kF,
     kF,
     kF,
     kF,
     kBad,
     "[2, 4, 5, 7], found [5, 6]"},
    {"MaskRank",
     kQ,
     kK,
     kK,
     {4, 5, 7},
     kF,
     kF,
     kF,
     kF,
     kBad,
     "found [4, 5, 7]"},
    {"EmptyMask", kQ, kK, kK, {5, 0}, kF, kF, kF, kF, kBad, "found [5, 0]"},
};
INSTANTIATE_TEST_SUITE_P(Table, AttentionRejects, testing::ValuesIn(kMisuses),
                         [](const auto& p) { return p.param.name; });

TEST(AttentionRejects, Dropout) {
  const Tensor q = random({1, 1, 2, 2}, 1);
  for (const double dropout : {0.1, -1.0, std::nan("")}) {
    const auto result = attention({q, q, q, nullptr, dropout});
    ASSERT_FALSE(result.has_value());
    EXPECT_THAT(result.error().to_string(), HasSubstr("dropout"));
  }
}

TEST(AttentionEntry, GivesTwoTensorsOrNone) {
  const Tensor q = random({1, 1, 2, 2}, 1);
  AtenTensorHandle tensor = wrap(Tensor(q));
  AtenTensorHandle output = nullptr;
  AtenTensorHandle normalizer = nullptr;
  const auto entry = aoti_berth_cpu__scaled_dot_product_flash_attention_for_cpu;
  const std::size_t live = live_handle_count();
  double scale = 0.5;
  AtenTensorHandle missing = nullptr;
  EXPECT_EQ(entry(tensor, tensor, nullptr, 0, 0, nullptr, nullptr, &output,
                  &normalizer),
            1);
  EXPECT_THAT(take_reason(), HasSubstr("tensor handle is null"));
  EXPECT_EQ(entry(tensor, tensor, tensor, 0, 0, &missing, &scale, &output,
                  &normalizer),
            1);
  EXPECT_EQ(live_handle_count(), live);
  ASSERT_EQ(entry(tensor, tensor, tensor, 0, 1, nullptr, &scale, &output,
                  &normalizer),
            0);
  EXPECT_EQ((*borrow(output))->dim(), 4);
  EXPECT_EQ((*borrow(normalizer))->dim(), 3);
  for (AtenTensorHandle handle : {tensor, output, normalizer}) discard(handle);
}

}  // namespace
}  // namespace berth::shim
