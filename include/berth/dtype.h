// The element types that delegates know.
#pragma once

#include <cstddef>
#include <cstdint>

#include "berth/export.h"

namespace berth {

// Values are torch's (c10::ScalarType), which ExecuTorch shares: they cross the
// delegate's C interface as integers.
enum class DType : std::int32_t {
  kUInt8 = 0,
  kInt8 = 1,
  kInt16 = 2,
  kInt32 = 3,
  kInt64 = 4,
  kFloat16 = 5,
  kFloat32 = 6,
  kFloat64 = 7,
  kComplex32 = 8,
  kComplex64 = 9,
  kComplex128 = 10,
  kBool = 11,
  kBFloat16 = 15,
  kFloat8E5M2 = 23,
  kFloat8E4M3FN = 24,
  kFloat8E5M2FNUZ = 25,
  kFloat8E4M3FNUZ = 26,
  kUInt16 = 27,
  kUInt32 = 28,
  kUInt64 = 29,
};

// Bytes of one element, or 0 when `dtype` is none of the above.
BERTH_API std::size_t element_size(DType dtype) noexcept;

// torch's name, for example "float32"; "unknown" when it is none of the above.
BERTH_API const char* to_string(DType dtype) noexcept;

}  // namespace berth
