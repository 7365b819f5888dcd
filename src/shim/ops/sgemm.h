// out = beta * out + alpha * (a @ b) in single precision: the workhorse.
//
// Small products run in kernels of our own (small_sgemm.h), because a call of
// oneDNN costs more than they do; larger ones run in oneDNN.
#pragma once

#include "berth/result.h"
#include "shim/ops/matrix.h"

namespace berth::shim {

// `a` and `b` may have any strides; `out` must have a leading() dimension and
// overlap neither. When `beta` is 0, `out` is not read.
// Fails with kOutOfMemory, or with kInternal when oneDNN does.
Status sgemm(float alpha, const Matrix<const float>& a,
             const Matrix<const float>& b, float beta,
             const Matrix<float>& out);

}  // namespace berth::shim
