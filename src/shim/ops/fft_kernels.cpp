#include "shim/ops/fft_kernels.h"

#include <algorithm>
#include <utility>

#include "base/cpu.h"

// What every processor that Berth is compiled for has: 16 bytes.
#define BERTH_TARGET
#define BERTH_VECTOR_BYTES 16

namespace berth::shim {
namespace {

#include "shim/ops/fft_kernels.inc"

// The widest vectors that the lines fill, or else the narrowest that hold them.
template <typename T>
const FftKernels<T>& select(FftKernels<T> FftKernelSets::*of,
                            std::int64_t lines) noexcept {
  const FftKernels<T>* best = &(kFftBaseline.*of);
#if defined(__x86_64__)
  static const auto features = base::CpuFeatures::of_this_machine();
  if (features.avx2 && lines > best->lanes) best = &(kFftAvx2.*of);
  if (features.avx512 && lines > best->lanes) best = &(kFftAvx512.*of);
#endif
  return *best;
}

}  // namespace

const FftKernelSets kFftBaseline = kSets;

const FftKernels<float>& fft_kernels(std::int64_t lines, float) noexcept {
  return select(&FftKernelSets::singles, lines);
}

const FftKernels<double>& fft_kernels(std::int64_t lines, double) noexcept {
  return select(&FftKernelSets::doubles, lines);
}

}  // namespace berth::shim
