#include "cli/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>

namespace berth::cli {
namespace {

// One element as a complex number, which holds every type: integers beyond
// 2^53 lose their last bits, so those are compared for equality first.
using Number = std::complex<double>;

double from_half(std::uint16_t bits) {
  const int sign = bits >> 15;
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  double value = 0;
  if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else if (exponent == 31) {
    value = fraction == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  } else {
    value = std::ldexp(fraction + 1024, exponent - 25);
  }
  return sign != 0 ? -value : value;
}

double from_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

template <typename T>
T element(const Tensor& tensor, std::int64_t i) {
  return static_cast<const T*>(tensor.data())[i];
}

Result<Number> number(const Tensor& tensor, std::int64_t i) {
  switch (tensor.dtype()) {
    case DType::kUInt8:
    case DType::kBool:
      return Number(element<std::uint8_t>(tensor, i));
    case DType::kInt8:
      return Number(element<std::int8_t>(tensor, i));
    case DType::kInt16:
      return Number(element<std::int16_t>(tensor, i));
    case DType::kUInt16:
      return Number(element<std::uint16_t>(tensor, i));
    case DType::kInt32:
      return Number(element<std::int32_t>(tensor, i));
    case DType::kUInt32:
      return Number(element<std::uint32_t>(tensor, i));
    case DType::kInt64:
      return Number(static_cast<double>(element<std::int64_t>(tensor, i)));
    case DType::kUInt64:
      return Number(static_cast<double>(element<std::uint64_t>(tensor, i)));
    case DType::kFloat16:
      return Number(from_half(element<std::uint16_t>(tensor, i)));
    case DType::kBFloat16:
      return Number(from_bfloat16(element<std::uint16_t>(tensor, i)));
    case DType::kFloat32:
      return Number(element<float>(tensor, i));
    case DType::kFloat64:
      return Number(element<double>(tensor, i));
    case DType::kComplex64: {
      const auto value = element<std::complex<float>>(tensor, i);
      return Number(value.real(), value.imag());
    }
    case DType::kComplex128:
      return element<std::complex<double>>(tensor, i);
    default:
      return fail(Code::kUnsupported, to_string(tensor.dtype()),
                  " cannot be compared");
  }
}

bool is_nan(Number n) { return std::isnan(n.real()) || std::isnan(n.imag()); }

}  // namespace

std::string describe(const Tensor& tensor) {
  std::string text = std::string(to_string(tensor.dtype())) + " [";
  for (std::size_t i = 0; i < tensor.sizes().size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(tensor.sizes()[i]);
  return text + "]";
}

Result<Difference> compare(const Tensor& found, const Tensor& expected,
                           const Tolerance& tolerance) {
  if (found.dtype() != expected.dtype() ||
      !std::ranges::equal(found.sizes(), expected.sizes()))
    return fail(Code::kInvalidArgument, "expected ", describe(expected),
                ", found ", describe(found));
  BERTH_TRY(const Tensor a, found.clone());
  BERTH_TRY(const Tensor b, expected.clone());
  const std::size_t width = element_size(a.dtype());
  Difference difference;
  for (std::int64_t i = 0; i < a.numel(); ++i) {
    const auto* left = static_cast<const std::byte*>(a.data()) + i * width;
    const auto* right = static_cast<const std::byte*>(b.data()) + i * width;
    if (std::equal(left, left + width, right)) continue;
    BERTH_TRY(const Number x, number(a, i));
    BERTH_TRY(const Number y, number(b, i));
    if (x == y || (is_nan(x) && is_nan(y))) continue;
    double distance = std::abs(x - y);
    if (std::isnan(distance))
      distance = std::numeric_limits<double>::infinity();
    difference.largest = std::max(difference.largest, distance);
    if (std::isfinite(distance) &&
        distance <= tolerance.absolute + tolerance.relative * std::abs(y))
      continue;
    if (difference.count++ == 0) difference.first_index = i;
  }
  return difference;
}

}  // namespace berth::cli
