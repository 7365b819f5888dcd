#include "shim/ops/attention_kernels.h"

#include <algorithm>
#include <limits>

#include "base/cpu.h"

// What every processor that Berth is compiled for has: 16 bytes.
#define BERTH_TARGET
#define BERTH_VECTOR_BYTES 16

namespace berth::shim {
namespace {

constexpr int kMostRows = 4;

#include "shim/ops/attention_kernels.inc"
#include "shim/ops/attention_rows.inc"

const AttentionKernelSets& find() noexcept {
#if defined(__x86_64__)
  const auto features = base::CpuFeatures::of_this_machine();
  if (features.avx512) return kAttentionAvx512;
  if (features.avx2) return kAttentionAvx2;
#endif
  return kAttentionBaseline;
}

const AttentionKernelSets& found() noexcept {
  static const AttentionKernelSets& sets = find();
  return sets;
}

// Counts the steps for one key: a row has one for each vector of the query, one
// for each element that is left, and some for a sum across the lanes
// (measured); panels have one for each element and each vector of queries.
template <typename T>
const AttentionKernels<T>& select(const AttentionKernelSet<T>& set,
                                  std::int64_t queries,
                                  std::int64_t width) noexcept {
  constexpr std::int64_t kSum = 8;
  const std::int64_t lanes = set.panels.panel / 2;
  if (queries > lanes) return set.panels;
  const std::int64_t steps = width / lanes + width % lanes + kSum;
  return queries * steps < width ? set.rows : set.panels;
}

}  // namespace

const AttentionKernelSets kAttentionBaseline = kSets;

const AttentionKernels<float>& attention_kernels(std::int64_t queries,
                                                 std::int64_t width,
                                                 float) noexcept {
  return select(found().singles, queries, width);
}

const AttentionKernels<double>& attention_kernels(std::int64_t queries,
                                                  std::int64_t width,
                                                  double) noexcept {
  return select(found().doubles, queries, width);
}

}  // namespace berth::shim
