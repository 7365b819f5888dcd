#if defined(__x86_64__)
#include <algorithm>
#include <utility>

#include "shim/ops/fft_kernels.h"

#define BERTH_TARGET __attribute__((target("avx2,fma")))
#define BERTH_VECTOR_BYTES 32

namespace berth::shim {
namespace {

#include "shim/ops/fft_kernels.inc"

}  // namespace

const FftKernelSets kFftAvx2 = kSets;

}  // namespace berth::shim
#endif
