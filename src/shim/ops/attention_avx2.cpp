#if defined(__x86_64__)
#include <algorithm>
#include <limits>

#include "shim/ops/attention_kernels.h"

#define BERTH_TARGET __attribute__((target("avx2,fma")))
#define BERTH_VECTOR_BYTES 32

namespace berth::shim {
namespace {

// Twice as many sums fit into the registers, with the operands.
constexpr int kMostRows = 6;

#include "shim/ops/attention_kernels.inc"
#include "shim/ops/attention_rows.inc"

}  // namespace

const AttentionKernelSets kAttentionAvx2 = kSets;

}  // namespace berth::shim
#endif
