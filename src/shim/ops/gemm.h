// Matrix products of tensors: mm, addmm, bmm, baddbmm.
#pragma once

#include "berth/result.h"
#include "berth/tensor.h"

namespace berth::shim {

// out = beta * self + alpha * (a @ b), with torch's meaning: `a` and `b` are
// two matrices or two batches of them, `self` is expanded to the sizes of
// `out` and is not read when `beta` is 0 (and may then be null). `out` may be
// `self`. All have one dtype.
// Fails with kInvalidArgument for dtypes and sizes that do not fit together,
// kUnsupported for dtypes that torch does not multiply either, kOutOfMemory.
Status gemm(Tensor& out, const Tensor* self, const Tensor& a, const Tensor& b,
            double beta, double alpha);

}  // namespace berth::shim
