// Fourier transforms of all lines along one dimension of a tensor.
#pragma once

#include <cstdint>
#include <vector>

#include "berth/result.h"
#include "tensor/element.h"

namespace berth::shim {

// A dimension across the lines.
struct FftAcross {
  std::int64_t size = 0;
  std::int64_t from_step = 0;
  std::int64_t to_step = 0;
};

// From complex numbers, or from `real` ones, to complex numbers. Steps count
// elements. `from` may be `to`, with the same steps. Everything is checked, and
// there is at least one line of at least one element.
template <typename T>
struct FftLines {
  const tensor::Complex<T>* from = nullptr;
  const T* real = nullptr;  // Instead of `from`.
  tensor::Complex<T>* to = nullptr;
  std::int64_t size = 0;  // Elements of a line of `from`.
  std::int64_t from_step = 0;
  std::int64_t to_step = 0;
  std::int64_t kept = 0;  // Of the result: `size`, or size / 2 + 1 from `real`.
  bool inverse = false;
  double factor = 1;
  std::vector<FftAcross> across;  // Outermost first; may be empty.
};

// Fails with kOutOfMemory.
Status transform_lines(const FftLines<float>& lines);
Status transform_lines(const FftLines<double>& lines);

}  // namespace berth::shim
