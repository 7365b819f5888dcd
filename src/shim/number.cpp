#include "shim/number.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "tensor/layout.h"

namespace berth::shim {

using tensor::BFloat16;
using tensor::Complex;
using tensor::Half;

namespace {

template <typename T>
T load(const Tensor& tensor) noexcept {
  T value;
  std::memcpy(&value, tensor.data(), sizeof(T));
  return value;
}

template <typename T>
std::optional<T> from_real(double value) noexcept {
  if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<T>) {
    // Both bounds are powers of two or zero, so exact as doubles; the largest T
    // itself need not be. -0.5 is cut to 0 and so fits an unsigned T.
    const double above = std::ldexp(1.0, std::numeric_limits<T>::digits);
    const double below =
        static_cast<double>(std::numeric_limits<T>::min()) - 1.0;
    const bool least_fits =
        value >= static_cast<double>(std::numeric_limits<T>::min());
    if (!(value < above) || !(least_fits || value > below)) return {};
    return static_cast<T>(value);
  } else if constexpr (std::is_same_v<T, float>) {
    const auto narrow = static_cast<float>(value);
    if (std::isinf(narrow) && !std::isinf(value)) return {};
    return narrow;
  } else {
    return value;
  }
}

template <typename T, typename From>
std::optional<T> from_integer(From value) noexcept {
  if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<T>) {
    if (!std::in_range<T>(value)) return {};
    return static_cast<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

}  // namespace

Result<Number> number_of(const Tensor& tensor) {
  if (tensor.numel() != 1)
    return fail(Code::kInvalidArgument,
                "expected a tensor of one element, found sizes ",
                tensor::to_text(tensor.sizes()));
  switch (tensor.dtype()) {
    case DType::kBool:
      // Any byte but zero is true, whoever wrote it.
      return Number(std::uint64_t{load<std::uint8_t>(tensor) != 0});
    case DType::kUInt8:
      return Number(std::uint64_t{load<std::uint8_t>(tensor)});
    case DType::kUInt16:
      return Number(std::uint64_t{load<std::uint16_t>(tensor)});
    case DType::kUInt32:
      return Number(std::uint64_t{load<std::uint32_t>(tensor)});
    case DType::kUInt64:
      return Number(load<std::uint64_t>(tensor));
    case DType::kInt8:
      return Number(std::int64_t{load<std::int8_t>(tensor)});
    case DType::kInt16:
      return Number(std::int64_t{load<std::int16_t>(tensor)});
    case DType::kInt32:
      return Number(std::int64_t{load<std::int32_t>(tensor)});
    case DType::kInt64:
      return Number(load<std::int64_t>(tensor));
    case DType::kFloat16:
      return Number(double{to_float(load<Half>(tensor))});
    case DType::kBFloat16:
      return Number(double{to_float(load<BFloat16>(tensor))});
    case DType::kFloat32:
      return Number(double{load<float>(tensor)});
    case DType::kFloat64:
      return Number(load<double>(tensor));
    case DType::kComplex64: {
      const auto value = load<Complex<float>>(tensor);
      return Number(Complex<double>{value.real, value.imag});
    }
    case DType::kComplex128:
      return Number(load<Complex<double>>(tensor));
    default:
      return fail(Code::kUnsupported, "an element of ",
                  to_string(tensor.dtype()), " cannot be read as a number");
  }
}

template <typename T>
std::optional<T> convert(const Number& number) noexcept {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    const std::optional<float> wide = convert<float>(number);
    if (!wide) return {};
    T narrow{};
    if constexpr (std::is_same_v<T, Half>)
      narrow = tensor::to_half(*wide);
    else
      narrow = tensor::to_bfloat16(*wide);
    if (std::isinf(to_float(narrow)) && !std::isinf(*wide)) return {};
    return narrow;
  } else if constexpr (std::is_same_v<T, Complex<float>>) {
    const auto* value = std::get_if<Complex<double>>(&number);
    const auto real =
        value ? from_real<float>(value->real) : convert<float>(number);
    const auto imag = from_real<float>(value ? value->imag : 0.0);
    if (!real || !imag) return {};
    return T{*real, *imag};
  } else {
    if (const auto* value = std::get_if<std::int64_t>(&number))
      return from_integer<T>(*value);
    if (const auto* value = std::get_if<std::uint64_t>(&number))
      return from_integer<T>(*value);
    if (const auto* value = std::get_if<double>(&number))
      return from_real<T>(*value);
    const auto& value = *std::get_if<Complex<double>>(&number);
    if constexpr (std::is_same_v<T, bool>)
      return value.real != 0 || value.imag != 0;
    else
      return value.imag == 0 ? from_real<T>(value.real) : std::nullopt;
  }
}

#define BERTH_ITEM(dtype, type) \
  template std::optional<type> convert<type>(const Number&) noexcept;
#define BERTH_SCALAR(dtype, type)
#include "shim/scalars.inc"
#undef BERTH_ITEM
#undef BERTH_SCALAR

}  // namespace berth::shim
