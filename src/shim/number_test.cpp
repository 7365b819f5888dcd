#include "shim/number.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "shim/functions.h"
#include "shim/reason.h"

namespace berth::shim {
namespace {

using tensor::BFloat16;
using tensor::Complex;
using tensor::Half;
using testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <typename T>
Tensor holding(const T& value) {
  Tensor tensor = *Tensor::empty({}, tensor::kDTypeOf<T>);
  std::memcpy(tensor.data(), &value, sizeof(T));
  return tensor;
}

// A value through a tensor and back, by the delegate's own functions.
#define BERTH_EXPECT_ROUND_TRIP(dtype, ctype, value)                      \
  do {                                                                    \
    const ctype in = value;                                               \
    AtenTensorHandle handle = nullptr;                                    \
    ASSERT_EQ(aoti_berth_scalar_to_tensor_##dtype(in, &handle), 0);       \
    std::int32_t code = -1;                                               \
    std::int64_t dim = -1;                                                \
    EXPECT_EQ(aoti_berth_get_dtype(handle, &code), 0);                    \
    EXPECT_EQ(code, aoti_berth_dtype_##dtype());                          \
    EXPECT_EQ(aoti_berth_get_dim(handle, &dim), 0);                       \
    EXPECT_EQ(dim, 0);                                                    \
    ctype out{};                                                          \
    EXPECT_EQ(aoti_berth_item_##dtype(handle, &out), 0) << take_reason(); \
    EXPECT_EQ(std::memcmp(&in, &out, sizeof(ctype)), 0);                  \
    EXPECT_EQ(aoti_berth_delete_tensor_object(handle), 0);                \
  } while (false)

TEST(Number, EveryTypeRoundTripsBitByBit) {
  BERTH_EXPECT_ROUND_TRIP(bool, bool, true);
  BERTH_EXPECT_ROUND_TRIP(uint8, std::uint8_t, 255);
  BERTH_EXPECT_ROUND_TRIP(uint16, std::uint16_t, 65535);
  BERTH_EXPECT_ROUND_TRIP(uint32, std::uint32_t, 4294967295u);
  BERTH_EXPECT_ROUND_TRIP(uint64, std::uint64_t, ~0ull);
  BERTH_EXPECT_ROUND_TRIP(int8, std::int8_t, -128);
  BERTH_EXPECT_ROUND_TRIP(int16, std::int16_t, -32768);
  BERTH_EXPECT_ROUND_TRIP(int32, std::int32_t, std::numeric_limits<int>::min());
  BERTH_EXPECT_ROUND_TRIP(int64, std::int64_t,
                          std::numeric_limits<std::int64_t>::min());
  BERTH_EXPECT_ROUND_TRIP(float32, float, -0.0f);
  BERTH_EXPECT_ROUND_TRIP(float32, float,
                          std::numeric_limits<float>::denorm_min());
  BERTH_EXPECT_ROUND_TRIP(float32, float, std::bit_cast<float>(0x7FC12345u));
  BERTH_EXPECT_ROUND_TRIP(float32, float,
                          -std::numeric_limits<float>::infinity());
  BERTH_EXPECT_ROUND_TRIP(float64, double, -0.0);
  BERTH_EXPECT_ROUND_TRIP(float64, double, kNan);
  BERTH_EXPECT_ROUND_TRIP(float64, double, std::numeric_limits<double>::max());
  const Complex<float> complex{1.5f, -0.0f};
  BERTH_EXPECT_ROUND_TRIP(complex64, Complex<float>, complex);
}

TEST(Number, ItemsOfAnotherTypeAreConvertedWhenTheyFit) {
  EXPECT_EQ(convert<std::int64_t>(*number_of(holding<std::int32_t>(-7))), -7);
  EXPECT_EQ(convert<float>(*number_of(holding<std::uint8_t>(200))), 200.0f);
  EXPECT_EQ(convert<std::int32_t>(*number_of(holding(-2.9))), -2);
  EXPECT_EQ(convert<std::uint8_t>(*number_of(holding(-0.5))), 0);
  EXPECT_EQ(convert<bool>(*number_of(holding(0.25f))), true);
  EXPECT_EQ(convert<bool>(*number_of(holding(-0.0))), false);
  EXPECT_EQ(convert<double>(*number_of(holding(BFloat16{0x4049}))), 3.140625);
  EXPECT_EQ(convert<float>(*number_of(holding(kInf))),
            std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(*convert<float>(*number_of(holding(kNan)))));
  EXPECT_EQ(convert<double>(*number_of(holding(Complex<double>{2, 0}))), 2.0);
  EXPECT_EQ(convert<Half>(*number_of(holding(65504.0)))->bits, 0x7BFF);
  const auto complex = convert<Complex<float>>(*number_of(holding(3.0)));
  ASSERT_TRUE(complex.has_value());
  EXPECT_EQ(complex->real, 3.0f);
  EXPECT_EQ(complex->imag, 0.0f);
}

TEST(Number, WhatDoesNotFitIsNothing) {
  constexpr double k2To63 = 9223372036854775808.0;
  EXPECT_FALSE(convert<std::int64_t>(Number(k2To63)));
  EXPECT_EQ(convert<std::int64_t>(Number(-k2To63)),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(convert<std::uint64_t>(Number(k2To63)), std::uint64_t{1} << 63);
  EXPECT_FALSE(convert<std::uint64_t>(Number(2 * k2To63)));
  EXPECT_FALSE(convert<std::uint8_t>(Number(256.0)));
  EXPECT_EQ(convert<std::uint8_t>(Number(255.9)), 255);
  EXPECT_FALSE(convert<std::uint8_t>(Number(-1.0)));
  EXPECT_EQ(convert<std::int8_t>(Number(-128.9)), -128);
  EXPECT_FALSE(convert<std::int8_t>(Number(-129.0)));
  EXPECT_FALSE(convert<std::int32_t>(Number(kNan)));
  EXPECT_FALSE(convert<std::int32_t>(Number(kInf)));
  EXPECT_FALSE(convert<std::int8_t>(Number(std::int64_t{200})));
  EXPECT_FALSE(convert<std::uint32_t>(Number(std::int64_t{-1})));
  EXPECT_FALSE(convert<float>(Number(1e300)));
  EXPECT_FALSE(convert<Half>(Number(70000.0)));
  EXPECT_FALSE(convert<double>(Number(Complex<double>{1, 1})));
}

TEST(Number, AnyByteButZeroIsTrue) {
  for (const int byte : {0, 1, 2, 0x80, 0xFF}) {
    Tensor tensor = *Tensor::empty({}, DType::kBool);
    std::memset(tensor.data(), byte, 1);
    AtenTensorHandle handle = wrap(std::move(tensor));
    bool value = byte == 0;
    EXPECT_EQ(aoti_berth_item_bool(handle, &value), 0);
    EXPECT_EQ(value, byte != 0);
    discard(handle);
  }
}

TEST(Number, NeedsExactlyOneElement) {
  const std::int64_t sizes[] = {2};
  AtenTensorHandle two = wrap(*Tensor::empty(sizes, DType::kFloat32));
  float value = 0;
  EXPECT_EQ(aoti_berth_item_float32(two, &value), 1);
  EXPECT_THAT(take_reason(), HasSubstr("found sizes [2]"));
  discard(two);
  AtenTensorHandle big = wrap(holding(1e300));
  EXPECT_EQ(aoti_berth_item_float32(big, &value), 1);
  EXPECT_THAT(take_reason(), HasSubstr("float64 does not fit into float32"));
  discard(big);
  AtenTensorHandle eighth = wrap(*Tensor::empty({}, DType::kFloat8E4M3FN));
  EXPECT_EQ(aoti_berth_item_float32(eighth, &value), 1);
  EXPECT_THAT(take_reason(), HasSubstr("Unsupported"));
  discard(eighth);
}

TEST(Element, SixteenBitFloatsSurviveWideningAndNarrowing) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Half half{static_cast<std::uint16_t>(bits)};
    const float wide = to_float(half);
    if (std::isnan(wide))
      EXPECT_TRUE(std::isnan(to_float(tensor::to_half(wide))));
    else
      ASSERT_EQ(tensor::to_half(wide).bits, half.bits);
    const BFloat16 brain{static_cast<std::uint16_t>(bits)};
    const float value = to_float(brain);
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(to_float(tensor::to_bfloat16(value))));
    else
      ASSERT_EQ(tensor::to_bfloat16(value).bits, brain.bits);
  }
}

TEST(Element, RoundsToNearestAndTiesToEven) {
  EXPECT_EQ(tensor::to_half(1.0f).bits, 0x3C00);
  EXPECT_EQ(tensor::to_half(1.0f + 0x1p-11f).bits, 0x3C00);  // Tie, to even.
  EXPECT_EQ(tensor::to_half(1.0f + 3 * 0x1p-11f).bits, 0x3C02);
  EXPECT_EQ(tensor::to_half(1.0f + 0x1p-11f + 0x1p-20f).bits, 0x3C01);
  EXPECT_EQ(tensor::to_half(65519.0f).bits, 0x7BFF);
  EXPECT_EQ(tensor::to_half(65520.0f).bits, 0x7C00);
  EXPECT_EQ(tensor::to_half(0x1p-24f).bits, 0x0001);
  EXPECT_EQ(tensor::to_half(0x1p-25f).bits, 0x0000);  // Tie, to even.
  EXPECT_EQ(tensor::to_half(0x1.8p-25f).bits, 0x0001);
  EXPECT_EQ(tensor::to_bfloat16(1.0f + 0x1p-8f).bits, 0x3F80);
  EXPECT_EQ(tensor::to_bfloat16(1.0f + 3 * 0x1p-8f).bits, 0x3F82);
  EXPECT_EQ(tensor::to_bfloat16(std::numeric_limits<float>::max()).bits,
            0x7F80);
}

}  // namespace
}  // namespace berth::shim
