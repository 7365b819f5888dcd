#if defined(__x86_64__)
#include <algorithm>
#include <utility>

#include "shim/ops/fft_kernels.h"

#define BERTH_TARGET \
  __attribute__((target("avx2,fma,avx512f,avx512dq,avx512bw,avx512vl")))
#define BERTH_VECTOR_BYTES 64

namespace berth::shim {
namespace {

#include "shim/ops/fft_kernels.inc"

}  // namespace

const FftKernelSets kFftAvx512 = kSets;

}  // namespace berth::shim
#endif
