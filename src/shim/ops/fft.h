// Fourier transforms of tensors.
#pragma once

#include <cstdint>
#include <span>

#include "berth/result.h"
#include "berth/tensor.h"

namespace berth::shim {

// What a result is divided by; torch's numbers.
enum class FftNorm : std::int64_t { kNone = 0, kByRoot = 1, kBySize = 2 };

// The transform of real numbers along `dims`, of which the last is halved to
// size / 2 + 1 numbers if `onesided`. The strides are torch's: the dimensions
// of the result lie in memory without gaps, those that are not transformed
// first, each kind in the order of `self`, and the last of `dims` innermost.
// Fails with kInvalidArgument for dims that are none, repeated or empty,
// kUnsupported for dtypes other than float32 and float64, kOutOfMemory.
Result<Tensor> fft_of_real(const Tensor& self,
                           std::span<const std::int64_t> dims, FftNorm norm,
                           bool onesided);

// The transform of complex numbers, or its inverse without a factor. Strides as
// above, but all of `dims` in the order of `self`; without dims, a copy.
Result<Tensor> fft_of_complex(const Tensor& self,
                              std::span<const std::int64_t> dims, FftNorm norm,
                              bool forward);

}  // namespace berth::shim
