// Single-precision products that are too small for oneDNN's overhead.
#pragma once

#include "shim/ops/matrix.h"

namespace berth::shim {

// As sgemm(), but true only when it did the work: the CPU has AVX2 and FMA, the
// product is small or has few rows, and `b` has neighbors along its columns, or
// `a` and `b` along the dimension that they share. Allocates nothing.
bool small_sgemm(float alpha, const Matrix<const float>& a,
                 const Matrix<const float>& b, float beta,
                 const Matrix<float>& out) noexcept;

}  // namespace berth::shim
