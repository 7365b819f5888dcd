#include "shim/ops/attention_kernels.h"

#include <cmath>
#include <limits>

#include "base/cpu.h"

// What every processor that Berth is compiled for has: 16 bytes.
#define BERTH_TARGET
#define BERTH_VECTOR_BYTES 16

namespace berth::shim {
namespace {

constexpr int kMostRows = 4;

#include "shim/ops/attention_kernels.inc"

const AttentionKernels<float>& find() noexcept {
#if defined(__x86_64__)
  const auto features = base::CpuFeatures::of_this_machine();
  if (features.avx512) return kAttentionAvx512;
  if (features.avx2) return kAttentionAvx2;
#endif
  return kKernels<float>;
}

}  // namespace

template <>
const AttentionKernels<float>& attention_kernels<float>() noexcept {
  static const AttentionKernels<float>& found = find();
  return found;
}

template <>
const AttentionKernels<double>& attention_kernels<double>() noexcept {
  return kKernels<double>;
}

}  // namespace berth::shim
