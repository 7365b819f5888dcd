// Matrix products as delegates call them, rightly and wrongly.
#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

#include "shim/functions.h"
#include "shim/ops/gemm.h"
#include "shim/reason.h"

namespace berth::shim {
namespace {

using testing::HasSubstr;
using Numbers = std::vector<std::int64_t>;

Tensor filled(const Numbers& sizes, float value) {
  Tensor tensor = *Tensor::empty(sizes, DType::kFloat32);
  std::fill_n(static_cast<float*>(tensor.data()), tensor.numel(), value);
  return tensor;
}

struct Misuse {
  const char* name;
  Numbers out, self, a, b;
  DType b_dtype;
  const char* says;
};

class GemmRejects : public testing::TestWithParam<Misuse> {};

TEST_P(GemmRejects, WithTheNumbers) {
  const Misuse& p = GetParam();
  Tensor out = *Tensor::empty(p.out, DType::kFloat32);
  const Tensor self = *Tensor::empty(p.self, DType::kFloat32);
  const Tensor a = *Tensor::empty(p.a, DType::kFloat32);
  const Tensor b = *Tensor::empty(p.b, p.b_dtype);
  const Status status = gemm(out, &self, a, b, 1, 1);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(status.error().to_string(), HasSubstr(p.says));
}

const Misuse kMisuses[] = {
    {"Inner",
     {2, 5},
     {5},
     {2, 3},
     {4, 5},
     DType::kFloat32,
     "[2, 3] and [4, 5]"},
    {"Rank", {2, 5}, {5}, {2, 3}, {1, 3, 5}, DType::kFloat32, "[1, 3, 5]"},
    {"Vector", {2}, {2}, {2}, {2}, DType::kFloat32, "[2] and [2]"},
    {"Batch",
     {2, 2, 5},
     {5},
     {2, 2, 3},
     {3, 3, 5},
     DType::kFloat32,
     "[3, 3, 5]"},
    {"Out", {5, 2}, {5}, {2, 3}, {3, 5}, DType::kFloat32, "found [5, 2]"},
    {"Self", {2, 5}, {4}, {2, 3}, {3, 5}, DType::kFloat32, "self of sizes [4]"},
    {"DType", {2, 5}, {5}, {2, 3}, {3, 5}, DType::kFloat64, "found float64"},
};
INSTANTIATE_TEST_SUITE_P(Table, GemmRejects, testing::ValuesIn(kMisuses),
                         [](const auto& p) { return p.param.name; });

TEST(GemmRejects, DtypesThatTorchDoesNotMultiply) {
  Tensor out = *Tensor::empty(Numbers{1, 1}, DType::kBool);
  const Tensor a = *Tensor::empty(Numbers{1, 1}, DType::kBool);
  EXPECT_EQ(gemm(out, nullptr, a, a, 0, 1).error().code(), Code::kUnsupported);
}

TEST(GemmEntries, DoWhatTheirNamesSay) {
  AtenTensorHandle two = wrap(filled({2, 2}, 2));
  AtenTensorHandle three = wrap(filled({2, 2}, 3));
  Tensor result = filled({2, 2}, 0);
  AtenTensorHandle out = wrap(Tensor(result));
  const auto first = [&] { return *static_cast<float*>(result.data()); };
  EXPECT_EQ(aoti_berth_cpu_mm_out(out, two, three), 0);
  EXPECT_EQ(first(), 12);
  EXPECT_EQ(aoti_berth_cpu_addmm_out(out, three, two, two, 2, 0.5), 0);
  EXPECT_EQ(first(), 10);
  EXPECT_EQ(aoti_berth__mm_plus_mm_out(out, two, three, two, two), 0);
  EXPECT_EQ(first(), 20);
  EXPECT_EQ(aoti_berth_cpu_bmm_out(out, two, nullptr), 1);
  EXPECT_THAT(take_reason(), HasSubstr("aoti_berth_cpu_bmm_out"));

  AtenTensorHandle left = wrap(filled({3, 2, 4}, 1));
  AtenTensorHandle right = wrap(filled({3, 4, 5}, 2));
  Tensor batches = filled({3, 2, 5}, 1);
  AtenTensorHandle many = wrap(Tensor(batches));
  const auto last = [&] { return static_cast<float*>(batches.data())[29]; };
  EXPECT_EQ(aoti_berth_cpu_baddbmm_out(many, many, left, right, 1, 1), 0);
  EXPECT_EQ(last(), 9);
  EXPECT_EQ(aoti_berth_cpu_bmm_out(many, left, right), 0);
  EXPECT_EQ(last(), 8);
  for (AtenTensorHandle handle : {two, three, out, left, right, many})
    discard(handle);
}

}  // namespace
}  // namespace berth::shim
