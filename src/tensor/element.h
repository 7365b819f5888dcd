// The C++ types of elements, as they cross the delegate's C interface, and how
// the 16-bit floats are rounded.
#pragma once

#include <bit>
#include <cstdint>

#include "berth/dtype.h"

namespace berth::tensor {

// IEEE binary16.
struct Half {
  std::uint16_t bits;
};

// The upper half of an IEEE binary32.
struct BFloat16 {
  std::uint16_t bits;
};

// Aligned as torch's complex numbers are.
template <typename T>
struct alignas(2 * sizeof(T)) Complex {
  T real;
  T imag;
};

inline float to_float(BFloat16 value) noexcept {
  return std::bit_cast<float>(std::uint32_t{value.bits} << 16);
}

inline float to_float(Half value) noexcept {
  const std::uint32_t sign = (value.bits & 0x8000u) << 16;
  const std::uint32_t magnitude = value.bits & 0x7FFFu;
  if (magnitude >= 0x7C00u)  // Infinity, or NaN with its payload.
    return std::bit_cast<float>(sign | 0x7F800000u | magnitude << 13);
  // The exponents' biases differ by 112. A multiplication corrects that, and
  // normalizes subnormals on the way.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(scaled));
}

// To nearest, ties to even; NaN stays NaN.
inline BFloat16 to_bfloat16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (value != value)
    return {static_cast<std::uint16_t>((bits >> 16) | 0x0040u)};
  const std::uint32_t round = 0x7FFFu + ((bits >> 16) & 1u);
  return {static_cast<std::uint16_t>((bits + round) >> 16)};
}

inline Half to_half(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  std::uint32_t out = 0;
  if (magnitude > 0x7F800000u) {
    out = 0x7E00u | ((magnitude >> 13) & 0x3FFu);
  } else if (magnitude >= 0x477FF000u) {  // 65520 and more round to infinity.
    out = 0x7C00u;
  } else if (magnitude < 0x38800000u) {
    // Subnormal: adding 0.5 puts the bits that remain at the bottom of the
    // mantissa, rounded by the addition itself.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    out = std::bit_cast<std::uint32_t>(shifted) - 0x3F000000u;
  } else {
    out = (magnitude - 0x38000000u + 0x0FFFu + ((magnitude >> 13) & 1u)) >> 13;
  }
  return {static_cast<std::uint16_t>(sign | out)};
}

template <typename T>
inline constexpr DType kDTypeOf = DType{-1};
template <>
inline constexpr DType kDTypeOf<bool> = DType::kBool;
template <>
inline constexpr DType kDTypeOf<std::uint8_t> = DType::kUInt8;
template <>
inline constexpr DType kDTypeOf<std::uint16_t> = DType::kUInt16;
template <>
inline constexpr DType kDTypeOf<std::uint32_t> = DType::kUInt32;
template <>
inline constexpr DType kDTypeOf<std::uint64_t> = DType::kUInt64;
template <>
inline constexpr DType kDTypeOf<std::int8_t> = DType::kInt8;
template <>
inline constexpr DType kDTypeOf<std::int16_t> = DType::kInt16;
template <>
inline constexpr DType kDTypeOf<std::int32_t> = DType::kInt32;
template <>
inline constexpr DType kDTypeOf<std::int64_t> = DType::kInt64;
template <>
inline constexpr DType kDTypeOf<float> = DType::kFloat32;
template <>
inline constexpr DType kDTypeOf<double> = DType::kFloat64;
template <>
inline constexpr DType kDTypeOf<Half> = DType::kFloat16;
template <>
inline constexpr DType kDTypeOf<BFloat16> = DType::kBFloat16;
template <>
inline constexpr DType kDTypeOf<Complex<float>> = DType::kComplex64;
template <>
inline constexpr DType kDTypeOf<Complex<double>> = DType::kComplex128;

}  // namespace berth::tensor
