// Products against a plain reference in double, over shapes, strides, dtypes.
#include "shim/ops/gemm.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "tensor/element.h"
#include "tensor/layout.h"

namespace berth::shim {
namespace {

using tensor::BFloat16;
using tensor::Half;
using tensor::to_text;
using testing::HasSubstr;
using Numbers = std::vector<std::int64_t>;

template <typename T>
double as_double(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return to_float(value);
  else
    return static_cast<double>(value);
}

template <typename T>
T from_double(double value) {
  if constexpr (std::is_same_v<T, Half>)
    return tensor::to_half(static_cast<float>(value));
  else if constexpr (std::is_same_v<T, BFloat16>)
    return tensor::to_bfloat16(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

template <typename T>
T& element(const Tensor& t, const Numbers& index) {
  std::int64_t at = 0;
  for (std::size_t i = 0; i < index.size(); ++i)
    at += index[i] * t.strides()[i];
  return static_cast<T*>(t.data())[at];
}

enum class Layout { kRows, kColumns, kGaps, kScattered };

// Memory for `sizes`, whose last two dimensions lie in it as `layout` says.
Tensor make(const Numbers& sizes, DType dtype, Layout layout) {
  const std::size_t n = sizes.size();
  const std::int64_t rows = std::max<std::int64_t>(sizes[n - 2], 1);
  const std::int64_t cols = std::max<std::int64_t>(sizes[n - 1], 1);
  Numbers strides(n);
  switch (layout) {
    case Layout::kRows:
      strides[n - 2] = cols;
      strides[n - 1] = 1;
      break;
    case Layout::kColumns:
      strides[n - 2] = 1;
      strides[n - 1] = rows;
      break;
    case Layout::kGaps:
      strides[n - 2] = cols + 3;
      strides[n - 1] = 1;
      break;
    case Layout::kScattered:
      strides[n - 2] = 2 * cols + 1;
      strides[n - 1] = 2;
      break;
  }
  if (n == 3) strides[0] = (2 * rows + 2) * (2 * cols + 3);
  Tensor tensor = *Tensor::empty_strided(sizes, strides, dtype);
  if (tensor.storage_size_bytes() > 0)
    std::memset(tensor.data(), 0x5A, tensor.storage_size_bytes());
  return tensor;
}

template <typename T>
void fill(const Tensor& tensor, std::mt19937& random) {
  const auto& s = tensor.sizes();
  const bool batched = s.size() == 3;
  for (std::int64_t b = 0; b < (batched ? s[0] : 1); ++b)
    for (std::int64_t i = 0; i < s[s.size() - 2]; ++i)
      for (std::int64_t j = 0; j < s[s.size() - 1]; ++j) {
        const double value =
            static_cast<double>(static_cast<int>(random() % 33) - 16) /
            (std::is_integral_v<T> ? 1 : 8);
        const Numbers index = batched ? Numbers{b, i, j} : Numbers{i, j};
        element<T>(tensor, index) = from_double<T>(value);
      }
}

template <typename T>
double tolerance(double scale) {
  if constexpr (std::is_integral_v<T>) return 0;
  if constexpr (std::is_same_v<T, double>) return 1e-12 * scale;
  if constexpr (std::is_same_v<T, float>) return 2e-6 * scale;
  if constexpr (std::is_same_v<T, Half>) return 1e-3 * scale;
  return 8e-3 * scale;
}

// The elements of one matrix of `t`, repeated where it has size 1.
template <typename T>
std::vector<double> plain(const Tensor& t, std::int64_t batch,
                          std::int64_t rows, std::int64_t cols) {
  const std::size_t n = t.sizes().size();
  const std::int64_t row = t.sizes()[n - 2] == 1 ? 0 : t.strides()[n - 2];
  const std::int64_t col = t.sizes()[n - 1] == 1 ? 0 : t.strides()[n - 1];
  const T* data =
      static_cast<T*>(t.data()) + (n == 3 ? batch * t.strides()[0] : 0);
  std::vector<double> out(static_cast<std::size_t>(rows * cols));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < cols; ++j)
      out[i * cols + j] = as_double(data[i * row + j * col]);
  return out;
}

struct Case {
  std::int64_t batch, m, n, k;
  Layout a, b, out;
  double beta, alpha;
  enum { kNone, kSame, kRow, kColumn, kScalar } self;
};

template <typename T>
void run(const Case& c, std::mt19937& random) {
  const auto sizes = [&](std::int64_t rows, std::int64_t cols) {
    return c.batch > 0 ? Numbers{c.batch, rows, cols} : Numbers{rows, cols};
  };
  constexpr DType kDType = tensor::kDTypeOf<T>;
  const Tensor a = make(sizes(c.m, c.k), kDType, c.a);
  const Tensor b = make(sizes(c.k, c.n), kDType, c.b);
  Tensor out = make(sizes(c.m, c.n), kDType, c.out);
  fill<T>(a, random);
  fill<T>(b, random);
  fill<T>(out, random);
  Tensor self = out;
  if (c.self == Case::kRow) self = make({1, c.n}, kDType, Layout::kRows);
  if (c.self == Case::kColumn) self = make({c.m, 1}, kDType, Layout::kRows);
  if (c.self == Case::kScalar) self = make({1, 1}, kDType, Layout::kRows);
  if (c.self > Case::kSame) fill<T>(self, random);
  const Tensor before = *self.clone();
  const Status status =
      gemm(out, c.self == Case::kNone ? nullptr : &self, a, b, c.beta, c.alpha);
  ASSERT_TRUE(status.has_value()) << status.error();
  for (std::int64_t batch = 0; batch < std::max<std::int64_t>(c.batch, 1);
       ++batch) {
    const auto x = plain<T>(a, batch, c.m, c.k);
    const auto y = plain<T>(b, batch, c.k, c.n);
    const auto ground = plain<T>(before, batch, c.m, c.n);
    const auto found = plain<T>(out, batch, c.m, c.n);
    for (std::int64_t i = 0; i < c.m; ++i) {
      for (std::int64_t j = 0; j < c.n; ++j) {
        double sum = 0;
        double scale = 1;
        for (std::int64_t k = 0; k < c.k; ++k) {
          const double term = x[i * c.k + k] * y[k * c.n + j];
          sum += term;
          scale += std::abs(term);
        }
        double expected = c.alpha * sum;
        if (c.beta != 0) expected += c.beta * ground[i * c.n + j];
        if constexpr (std::is_integral_v<T>)
          expected = static_cast<double>(
              static_cast<T>(static_cast<std::int64_t>(expected)));
        ASSERT_NEAR(found[i * c.n + j], expected,
                    tolerance<T>(std::abs(c.alpha) * scale + std::abs(c.beta)))
            << "element " << i << ", " << j << " of " << to_text(out.sizes())
            << " k " << c.k << " layouts " << static_cast<int>(c.a)
            << static_cast<int>(c.b) << static_cast<int>(c.out) << " self "
            << c.self << " beta " << c.beta << " alpha " << c.alpha;
      }
    }
  }
}

template <typename T>
class Gemm : public testing::Test {};
using DTypes =
    testing::Types<float, double, Half, BFloat16, std::uint8_t, std::int8_t,
                   std::int16_t, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(Gemm, DTypes);

TYPED_TEST(Gemm, AgreesWithTheReferenceOverRandomCases) {
  std::mt19937 random(20240607);
  const std::int64_t dims[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33, 64};
  const double factors[] = {0, 1, 1, 2, -1};
  const auto pick = [&](const auto& from) {
    return from[random() % std::size(from)];
  };
  for (int round = 0; round < 250; ++round) {
    Case c{};
    c.batch = static_cast<std::int64_t>(random() % 3 == 0 ? random() % 4 : 0);
    c.m = pick(dims);
    c.n = pick(dims);
    c.k = pick(dims);
    c.a = static_cast<Layout>(random() % 4);
    c.b = static_cast<Layout>(random() % 4);
    c.out = static_cast<Layout>(random() % 4);
    c.self = static_cast<decltype(c.self)>(random() % 5);
    c.beta = c.self == Case::kNone ? 0 : pick(factors);
    c.alpha = pick(factors);
    run<TypeParam>(c, random);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(Gemm, AgreesBeyondItsBlocks) {
  std::mt19937 random(7);
  for (const Layout layout : {Layout::kRows, Layout::kColumns}) {
    run<TypeParam>(
        {0, 130, 270, 140, layout, layout, Layout::kRows, 1, 1, Case::kRow},
        random);
    run<TypeParam>(
        {0, 3, 40, 5000, layout, layout, Layout::kColumns, 1, 1, Case::kSame},
        random);
  }
}

TYPED_TEST(Gemm, OperandsWithoutElementsNeedNoMemory) {
  constexpr DType kDType = tensor::kDTypeOf<TypeParam>;
  const Tensor a = *Tensor::borrow(nullptr, 0, Numbers{3, 0}, {}, kDType);
  const Tensor b = *Tensor::borrow(nullptr, 0, Numbers{0, 4}, {}, kDType);
  Tensor out = make({3, 4}, kDType, Layout::kRows);
  const Tensor self = make({1, 4}, kDType, Layout::kRows);
  for (int j = 0; j < 4; ++j)
    element<TypeParam>(self, {0, j}) = from_double<TypeParam>(j);
  ASSERT_TRUE(gemm(out, &self, a, b, 2, 1).has_value());
  EXPECT_EQ(as_double(element<TypeParam>(out, {2, 3})), 6);
  ASSERT_TRUE(gemm(out, nullptr, a, b, 0, 1).has_value());
  EXPECT_EQ(as_double(element<TypeParam>(out, {2, 3})), 0);
}

// Every remainder of the small kernels' tiles.
TEST(GemmFloat, AgreesAtEveryEdgeOfTheSmallKernels) {
  std::mt19937 random(11);
  for (std::int64_t m = 1; m <= 7; ++m)
    for (std::int64_t n = 1; n <= 19; ++n)
      for (const std::int64_t k : {1, 7, 8, 9, 24})
        for (const Layout b : {Layout::kRows, Layout::kColumns})
          run<float>(
              {0, m, n, k, Layout::kGaps, b, Layout::kGaps, 1, 2, Case::kSame},
              random);
  for (const std::int64_t n : {63, 64, 65, 71, 72, 130})
    run<float>({0, 1, n, 16, Layout::kRows, Layout::kRows, Layout::kRows, 0, 1,
                Case::kNone},
               random);
}

Tensor filled(const Numbers& sizes, float value) {
  Tensor tensor = *Tensor::empty(sizes, DType::kFloat32);
  std::fill_n(static_cast<float*>(tensor.data()), tensor.numel(), value);
  return tensor;
}

TEST(GemmFloat, ABetaOfZeroIgnoresNanInSelfAndOut) {
  for (const std::int64_t size : {2, 200}) {
    const Tensor nan =
        filled({size, size}, std::numeric_limits<float>::quiet_NaN());
    Tensor out = *nan.clone();
    const Tensor a = filled({size, size}, 1);
    ASSERT_TRUE(gemm(out, &nan, a, a, 0, 1).has_value());
    EXPECT_EQ(element<float>(out, {1, 1}), static_cast<float>(size));
    const Tensor none = filled({size, 0}, 0);
    Tensor empty = *nan.clone();
    ASSERT_TRUE(
        gemm(empty, &nan, none, filled({0, size}, 0), 0, 1).has_value());
    EXPECT_EQ(element<float>(empty, {1, 1}), 0);
  }
}

TEST(GemmFloat, NanAndInfinityInTheOperandsArrive) {
  Tensor a = filled({9, 9}, 1);
  element<float>(a, {3, 8}) = std::numeric_limits<float>::quiet_NaN();
  element<float>(a, {4, 0}) = std::numeric_limits<float>::infinity();
  Tensor out = filled({9, 9}, 0);
  ASSERT_TRUE(gemm(out, nullptr, a, filled({9, 9}, 1), 0, 1).has_value());
  EXPECT_TRUE(std::isnan(element<float>(out, {3, 0})));
  EXPECT_TRUE(std::isinf(element<float>(out, {4, 8})));
  EXPECT_EQ(element<float>(out, {5, 5}), 9);
}

TEST(GemmFloat, AnOutThatOverlapsAnOperandIsStillRight) {
  for (const std::int64_t size : {4, 100}) {
    Tensor a = filled({size, size}, 2);
    const Tensor b = filled({size, size}, 1);
    const auto twice = static_cast<float>(2 * size);
    ASSERT_TRUE(gemm(a, nullptr, a, b, 0, 1).has_value());
    EXPECT_EQ(element<float>(a, {size - 1, size - 1}), twice);
    // self is out's own first row.
    const Tensor row = *a.view(Numbers{size}, Numbers{1}, 0);
    ASSERT_TRUE(gemm(a, &row, b, b, 1, 1).has_value());
    EXPECT_EQ(element<float>(a, {size - 1, 0}), 3 * static_cast<float>(size));
  }
}

TEST(GemmFloat, ExpandedOperandsAreRead) {
  const Tensor one = filled({1, 1}, 3);
  const Tensor wide = *one.view(Numbers{40, 50}, Numbers{0, 0}, 0);
  const Tensor column = *one.view(Numbers{50, 30}, Numbers{0, 0}, 0);
  Tensor out = filled({40, 30}, 0);
  ASSERT_TRUE(gemm(out, nullptr, wide, column, 0, 1).has_value());
  EXPECT_EQ(element<float>(out, {39, 29}), 450);
}

TEST(GemmInteger, WrapsAround) {
  Tensor a = *Tensor::empty(Numbers{1, 1}, DType::kInt64);
  element<std::int64_t>(a, {0, 0}) = std::numeric_limits<std::int64_t>::max();
  Tensor b = *Tensor::empty(Numbers{1, 1}, DType::kInt64);
  element<std::int64_t>(b, {0, 0}) = 2;
  Tensor out = *Tensor::empty(Numbers{1, 1}, DType::kInt64);
  ASSERT_TRUE(gemm(out, nullptr, a, b, 0, 1).has_value());
  EXPECT_EQ(element<std::int64_t>(out, {0, 0}), -2);
  const Status half = gemm(out, nullptr, a, b, 0, 0.5);
  ASSERT_FALSE(half.has_value());
  EXPECT_THAT(half.error().to_string(), HasSubstr("whole numbers"));
}

}  // namespace
}  // namespace berth::shim
