// The inner loops of Fourier transforms, for several lines at once: those lie
// beside each other in a vector, so that no step of a transform crosses lanes.
//
// Arrays are [number][real, imaginary][line].
#pragma once

#include <cstdint>

#include "shim/ops/fft_plan.h"

namespace berth::shim {

template <typename T>
struct FftKernels {
  std::int64_t lanes = 0;  // Lines at once.

  // Transforms `data`, without a factor, and returns where the result is: there
  // or in `spare`. Both hold plan.work() numbers; what is in them after the
  // first plan.size is lost.
  T* (*transform)(const FftPlan<T>& plan, T* data, T* spare) = nullptr;

  // From `z`, the transform of plan.size numbers whose real parts are the even
  // elements of a real line and whose imaginary parts are the odd ones, the
  // first plan.size + 1 numbers of the line's transform. The plan is folded.
  void (*unfold)(const FftPlan<T>& plan, const T* z, T* out) = nullptr;

  // Makes the transform of `size` numbers the inverse one.
  void (*invert)(std::int64_t size, T* data) = nullptr;

  void (*scale)(std::int64_t size, T factor, T* data) = nullptr;
};

struct FftKernelSets {
  FftKernels<float> singles;
  FftKernels<double> doubles;
};

// The fastest that this machine runs for so many lines.
const FftKernels<float>& fft_kernels(std::int64_t lines, float) noexcept;
const FftKernels<double>& fft_kernels(std::int64_t lines, double) noexcept;

// Of each instruction set, for those that run it.
extern const FftKernelSets kFftBaseline;
#if defined(__x86_64__)
extern const FftKernelSets kFftAvx2;
extern const FftKernelSets kFftAvx512;
#endif

}  // namespace berth::shim
