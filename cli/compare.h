// How far one tensor is from another.
#pragma once

#include <cstdint>

#include "berth/result.h"
#include "berth/tensor.h"

namespace berth::cli {

struct Tolerance {
  double relative = 1e-5;
  double absolute = 1e-5;
};

struct Difference {
  double largest = 0;             // |found - expected|; infinite for NaN.
  std::int64_t count = 0;         // Elements outside the tolerance.
  std::int64_t first_index = -1;  // Row-major index of the first of them.
};

// Element by element, as numpy.allclose with equal_nan: an element is inside
// when |found - expected| <= absolute + relative * |expected|. Fails with
// kInvalidArgument when dtypes or sizes differ.
Result<Difference> compare(const Tensor& found, const Tensor& expected,
                           const Tolerance& tolerance);

// "float32 [2, 3]"
std::string describe(const Tensor& tensor);

}  // namespace berth::cli
