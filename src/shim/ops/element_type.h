// The C++ type of a dtype, and the type in which its elements are computed.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "berth/result.h"
#include "tensor/element.h"

namespace berth::shim {

template <typename T>
inline constexpr bool kIsSmallFloat =
    std::is_same_v<T, tensor::Half> || std::is_same_v<T, tensor::BFloat16>;

// float for the 16-bit floats, which have no arithmetic; else T.
template <typename T>
using Wide = std::conditional_t<kIsSmallFloat<T>, float, T>;

template <typename T>
Wide<T> widen(T value) noexcept {
  if constexpr (kIsSmallFloat<T>) {
    return tensor::to_float(value);
  } else {
    return value;
  }
}

// Rounds to nearest where T is narrower.
template <typename T, typename From>
T narrow(From value) noexcept {
  if constexpr (std::is_same_v<T, tensor::Half>) {
    return tensor::to_half(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, tensor::BFloat16>) {
    return tensor::to_bfloat16(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

template <typename T>
bool is_nan(T value) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(value);
  } else {
    return false;
  }
}

template <typename T>
struct ElementType {
  using type = T;
};

inline bool is_integral(DType dtype) noexcept {
  switch (dtype) {
    case DType::kBool:
    case DType::kUInt8:
    case DType::kUInt16:
    case DType::kUInt32:
    case DType::kUInt64:
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
      return true;
    default:
      return false;
  }
}

// Returns body(ElementType<T>{}) for the T of a float's dtype. Fails with
// kUnsupported, naming `what` ("cumsum"), for all other dtypes.
template <typename Body>
Status with_float_type(DType dtype, const char* what, const Body& body) {
  switch (dtype) {
    case DType::kFloat16:
      return body(ElementType<tensor::Half>{});
    case DType::kBFloat16:
      return body(ElementType<tensor::BFloat16>{});
    case DType::kFloat32:
      return body(ElementType<float>{});
    case DType::kFloat64:
      return body(ElementType<double>{});
    default:
      return fail(Code::kUnsupported, what, " of ", to_string(dtype),
                  " is not served");
  }
}

// For the T of any real dtype: all but complex numbers and 8-bit floats.
template <typename Body>
Status with_real_type(DType dtype, const char* what, const Body& body) {
  switch (dtype) {
    case DType::kBool:
      return body(ElementType<bool>{});
    case DType::kUInt8:
      return body(ElementType<std::uint8_t>{});
    case DType::kUInt16:
      return body(ElementType<std::uint16_t>{});
    case DType::kUInt32:
      return body(ElementType<std::uint32_t>{});
    case DType::kUInt64:
      return body(ElementType<std::uint64_t>{});
    case DType::kInt8:
      return body(ElementType<std::int8_t>{});
    case DType::kInt16:
      return body(ElementType<std::int16_t>{});
    case DType::kInt32:
      return body(ElementType<std::int32_t>{});
    case DType::kInt64:
      return body(ElementType<std::int64_t>{});
    default:
      return with_float_type(dtype, what, body);
  }
}

}  // namespace berth::shim
