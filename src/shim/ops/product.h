// out = beta * self + alpha * (a @ b) for every dtype that torch multiplies.
#pragma once

#include <cstdint>

#include "berth/result.h"
#include "shim/ops/matrix.h"
#include "tensor/element.h"

namespace berth::shim {

// One product. `out` has a leading() dimension and overlaps neither `a` nor
// `b`; `self` has the sizes of `out` (steps may be 0), and is `out` itself or
// does not overlap it. When `beta` is 0, `self` is not read.
template <typename T>
struct Product {
  Matrix<const T> a;
  Matrix<const T> b;
  Matrix<const T> self;
  Matrix<T> out;
  double beta = 0;
  double alpha = 1;
};

// float goes to sgemm(). Half and BFloat16 are widened block by block, summed
// in float and rounded once. double and integers run in a loop of our own;
// integers wrap around, as torch's do.
// Fails as sgemm() does.
Status multiply(const Product<float>& product);
Status multiply(const Product<tensor::Half>& product);
Status multiply(const Product<tensor::BFloat16>& product);
Status multiply(const Product<double>& product);
Status multiply(const Product<std::uint8_t>& product);
Status multiply(const Product<std::int8_t>& product);
Status multiply(const Product<std::int16_t>& product);
Status multiply(const Product<std::int32_t>& product);
Status multiply(const Product<std::int64_t>& product);

}  // namespace berth::shim
