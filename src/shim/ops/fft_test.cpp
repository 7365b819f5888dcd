// Fourier transforms beside their definition, and called wrongly. The numbers
// and strides of torch are in tests/operators/test_fft.py.
#include "shim/ops/fft.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numbers>
#include <random>
#include <thread>
#include <vector>

#include "shim/functions.h"
#include "shim/reason.h"
#include "tensor/element.h"

namespace berth::shim {
namespace {

using tensor::Complex;
using testing::HasSubstr;
using Numbers = std::vector<std::int64_t>;

Tensor random(const Numbers& sizes, DType dtype) {
  Tensor tensor = *Tensor::empty(sizes, dtype);
  const bool wide = dtype == DType::kFloat64 || dtype == DType::kComplex128;
  const std::size_t count = tensor.size_bytes() / (wide ? 8 : 4);
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> value(-1, 1);
  for (std::size_t i = 0; i < count; ++i) {
    if (wide)
      static_cast<double*>(tensor.data())[i] = value(engine);
    else
      static_cast<float*>(tensor.data())[i] = value(engine);
  }
  return tensor;
}

// Number `k` of the transform of `size` numbers, `parts` T each.
template <typename T>
Complex<double> exact(const T* from, std::int64_t size, std::int64_t parts,
                      std::int64_t k, double sign) {
  long double re = 0;
  long double im = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    const long double angle = sign * 2 * std::numbers::pi_v<long double> *
                              static_cast<long double>(i * k % size) /
                              static_cast<long double>(size);
    const long double a = from[i * parts];
    const long double b = parts == 2 ? from[i * parts + 1] : 0;
    re += a * std::cos(angle) - b * std::sin(angle);
    im += a * std::sin(angle) + b * std::cos(angle);
  }
  return {static_cast<double>(re), static_cast<double>(im)};
}

// The last dimension of [lines, size].
template <typename T>
void expect_exact(const Tensor& self, const Tensor& out, std::int64_t parts,
                  double sign, double tolerance) {
  const std::int64_t size = self.sizes()[1];
  const auto* from = static_cast<const T*>(self.data());
  const auto* found = static_cast<const Complex<T>*>(out.data());
  for (std::int64_t line = 0; line < self.sizes()[0]; ++line)
    for (std::int64_t k = 0; k < out.sizes()[1]; ++k) {
      const auto right =
          exact(from + line * size * parts, size, parts, k, sign);
      const Complex<T>& number = found[line * out.sizes()[1] + k];
      EXPECT_NEAR(number.real, right.real, tolerance) << size << " at " << k;
      EXPECT_NEAR(number.imag, right.imag, tolerance) << size << " at " << k;
    }
}

class FftOf : public testing::TestWithParam<std::int64_t> {};

TEST_P(FftOf, RealAndComplexNumbersIsTheDefinition) {
  const Numbers dims{1};
  for (const std::int64_t lines : {1, 3, 20}) {
    const Numbers sizes{lines, GetParam()};
    for (const bool onesided : {true, false}) {
      const Tensor real = random(sizes, DType::kFloat32);
      expect_exact<float>(real,
                          *fft_of_real(real, dims, FftNorm::kNone, onesided), 1,
                          -1, 2e-5);
      const Tensor wide = random(sizes, DType::kFloat64);
      expect_exact<double>(wide,
                           *fft_of_real(wide, dims, FftNorm::kNone, onesided),
                           1, -1, 1e-12);
    }
    for (const bool forward : {true, false}) {
      const double sign = forward ? -1 : 1;
      const Tensor pairs = random(sizes, DType::kComplex64);
      expect_exact<float>(pairs,
                          *fft_of_complex(pairs, dims, FftNorm::kNone, forward),
                          2, sign, 3e-5);
      const Tensor wide = random(sizes, DType::kComplex128);
      expect_exact<double>(wide,
                           *fft_of_complex(wide, dims, FftNorm::kNone, forward),
                           2, sign, 1e-12);
    }
  }
}

// Factors with and without a butterfly of their own, powers and products of
// them, and primes beyond them (67, 2 * 71, 509).
INSTANTIATE_TEST_SUITE_P(Lengths, FftOf,
                         testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 25,
                                         30, 49, 61, 64, 67, 128, 142, 210,
                                         509));

TEST(Fft, DividesByTheSizeOrItsRoot) {
  const Tensor self = random({3, 5}, DType::kComplex128);
  const Numbers dims{0, 1};
  const auto first = [&](FftNorm norm) {
    const Tensor out = *fft_of_complex(self, dims, norm, true);
    return *static_cast<const double*>(out.data());
  };
  const double whole = first(FftNorm::kNone);
  EXPECT_NEAR(first(FftNorm::kByRoot), whole / std::sqrt(15), 1e-12);
  EXPECT_NEAR(first(FftNorm::kBySize), whole / 15, 1e-12);
}

TEST(Fft, GoesThereAndBackInAnyDimensions) {
  const Tensor self = random({4, 3, 10}, DType::kComplex128);
  const Tensor turned = *self.view(Numbers{10, 4, 3}, Numbers{1, 30, 10}, 0);
  for (const Numbers& dims : {Numbers{0}, {2}, {1, 0}, {2, 0, 1}}) {
    const Tensor there = *fft_of_complex(turned, dims, FftNorm::kNone, true);
    const Tensor back = *fft_of_complex(there, dims, FftNorm::kBySize, false);
    const Tensor dense = *back.clone();
    const Tensor right = *turned.clone();
    for (std::int64_t i = 0; i < 2 * right.numel(); ++i)
      EXPECT_NEAR(static_cast<const double*>(dense.data())[i],
                  static_cast<const double*>(right.data())[i], 1e-14);
  }
}

TEST(Fft, LaysTheResultOutAsTorchDoes) {
  const Tensor self = random({3, 4, 5}, DType::kFloat32);
  const auto strides = [&](const Numbers& dims) {
    const Tensor out = *fft_of_real(self, dims, FftNorm::kNone, true);
    return Numbers(out.strides().begin(), out.strides().end());
  };
  EXPECT_THAT(strides({2}), testing::ElementsAre(12, 3, 1));
  EXPECT_THAT(strides({0}), testing::ElementsAre(1, 10, 2));
  EXPECT_THAT(strides({1, 0}), testing::ElementsAre(1, 2, 8));
  EXPECT_THAT(strides({1, 2, 0}), testing::ElementsAre(1, 10, 2));
}

TEST(Fft, OfNoLinesIsEmptyAndOfNoDimensionsACopy) {
  const Tensor none = *Tensor::empty(Numbers{0, 4}, DType::kFloat32);
  const Numbers last{1};
  const Tensor out = *fft_of_real(none, last, FftNorm::kNone, true);
  EXPECT_THAT(out.sizes(), testing::ElementsAre(0, 3));
  const Tensor self = random({2, 3}, DType::kComplex64);
  const Tensor copy = *fft_of_complex(self, {}, FftNorm::kBySize, true);
  EXPECT_FALSE(copy.shares_storage_with(self));
  EXPECT_EQ(static_cast<const float*>(copy.data())[5],
            static_cast<const float*>(self.data())[5]);
}

TEST(Fft, IsTheSameFromSeveralThreadsAtOnce) {
  const Tensor self = random({300, 134}, DType::kComplex64);
  const Numbers dims{1};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const Tensor out = *fft_of_complex(self, dims, FftNorm::kNone, true);
      const auto right =
          exact(static_cast<const float*>(self.data()) + 299 * 134 * 2, 134, 2,
                133, -1);
      const auto* numbers = static_cast<const Complex<float>*>(out.data());
      EXPECT_NEAR(numbers[300 * 134 - 1].real, right.real, 1e-5);
    });
  for (std::thread& thread : threads) thread.join();
}

struct Misuse {
  const char* name;
  Numbers sizes, dims;
  DType dtype;
  std::int64_t norm;
  Code code;
  const char* says;
};

class FftRejects : public testing::TestWithParam<Misuse> {};

TEST_P(FftRejects, WithTheNumbers) {
  const Misuse& p = GetParam();
  const Tensor self = *Tensor::empty(p.sizes, p.dtype);
  const bool real = p.dtype != DType::kComplex64;
  const auto result = real
                          ? fft_of_real(self, p.dims, FftNorm{p.norm}, true)
                          : fft_of_complex(self, p.dims, FftNorm{p.norm}, true);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code(), p.code);
  EXPECT_THAT(result.error().to_string(), HasSubstr(p.says));
}

constexpr DType kF = DType::kFloat32;
constexpr DType kC = DType::kComplex64;
constexpr Code kBad = Code::kInvalidArgument;

const Misuse kMisuses[] = {
    {"Half", {3, 4}, {1}, DType::kFloat16, 0, Code::kUnsupported, "float16"},
    {"Integers", {3, 4}, {1}, DType::kInt64, 0, Code::kUnsupported, "int64"},
    {"NoDims", {3, 4}, {}, kF, 0, kBad, "found none"},
    {"Negative",
     {3, 4},
     {-1},
     kF,
     0,
     kBad,
     "0 to 1 of a tensor of sizes [3, 4]"},
    {"TooLarge", {3, 4}, {0, 2}, kC, 0, kBad, "found [0, 2]"},
    {"Twice", {3, 4}, {1, 1}, kC, 0, kBad, "once, found [1, 1]"},
    {"NoElements", {3, 0}, {1}, kF, 0, kBad, "sizes [3, 0]"},
    {"Scalar", {}, {0}, kF, 0, kBad, "sizes []"},
    {"Norm", {3, 4}, {1}, kC, 3, kBad, "found 3"},
};
INSTANTIATE_TEST_SUITE_P(Table, FftRejects, testing::ValuesIn(kMisuses),
                         [](const auto& p) { return p.param.name; });

TEST(FftRejects, NumbersOfTheOtherKind) {
  const Numbers dims{0};
  const Tensor real = random({4}, kF);
  const Tensor pairs = random({4}, kC);
  EXPECT_THAT(
      fft_of_real(pairs, dims, FftNorm::kNone, true).error().to_string(),
      HasSubstr("complex64"));
  EXPECT_THAT(
      fft_of_complex(real, dims, FftNorm::kNone, true).error().to_string(),
      HasSubstr("float32"));
}

TEST(FftEntries, DoWhatTheirNamesSay) {
  AtenTensorHandle real = wrap(random({3, 8}, kF));
  AtenTensorHandle spectrum = nullptr;
  AtenTensorHandle back = nullptr;
  const std::int64_t dims[] = {1};
  ASSERT_EQ(aoti_berth_cpu__fft_r2c(real, dims, 1, 0, 0, &spectrum), 0);
  ASSERT_EQ(aoti_berth_cpu__fft_c2c(spectrum, dims, 1, 2, 0, &back), 0);
  const auto* right = static_cast<const float*>((*borrow(real))->data());
  const auto* found = static_cast<const float*>((*borrow(back))->data());
  for (int i = 0; i < 24; ++i) EXPECT_NEAR(found[2 * i], right[i], 1e-6);
  EXPECT_EQ(aoti_berth_cpu__fft_r2c(real, nullptr, 1, 0, 0, &spectrum), 1);
  EXPECT_THAT(take_reason(), HasSubstr("aoti_berth_cpu__fft_r2c"));
  EXPECT_EQ(aoti_berth_cpu__fft_c2c(real, dims, -1, 0, 0, &spectrum), 1);
  EXPECT_THAT(take_reason(), HasSubstr("found -1"));
  for (AtenTensorHandle handle : {real, spectrum, back}) discard(handle);
}

}  // namespace
}  // namespace berth::shim
