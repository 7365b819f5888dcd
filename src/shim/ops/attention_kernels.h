// The inner loops of attention, for one block of keys at a time.
//
// Scores are held with the queries beside each other in a vector, not the keys:
// maxima and sums over the keys then need no step across a vector, and keys and
// values are read where they are, one element for many queries.
//
// Queries come in panels of `panel` (two vectors' worth, or one query); an
// array of a panel has `panel` elements a row, of which the first `count`
// matter.
#pragma once

#include <cstdint>

#include "shim/ops/matrix.h"

namespace berth::shim {

// What is known of the queries of a panel after some of their keys: M. Milakov
// and N. Gimelshein, "Online normalizer calculation for softmax", 2018.
template <typename T>
struct Softmax {
  T* top;     // The largest score; -infinity before the first.
  T* total;   // The sum of exp(score - top).
  T* shrink;  // What the latest block multiplied earlier weights by.
};

template <typename T>
struct AttentionKernels {
  std::int64_t panel = 0;

  // scores[key][query] = scale times the product of a row of `keys`, whose
  // elements are neighbors, and a column of `queries`, [dimension][query].
  void (*score)(const T* queries, std::int64_t count,
                const Matrix<const T>& keys, T scale, T* scores) = nullptr;

  // Takes `keys` rows of scores into account, and makes weights of them:
  // exp(score - top). NaN stays NaN. There is room for whole vectors of keys.
  void (*soften)(std::int64_t keys, std::int64_t count, T* scores,
                 const Softmax<T>& softmax) = nullptr;

  // sums[dimension][query] = shrink[query] * sums[dimension][query] + the sum
  // over the keys of weight and value. Elements of a row are neighbors.
  void (*gather)(const T* weights, std::int64_t count,
                 const Matrix<const T>& values, const T* shrink,
                 T* sums) = nullptr;
};

template <typename T>
struct AttentionKernelSet {
  AttentionKernels<T> panels;
  AttentionKernels<T> rows;  // For few queries: panels of one.
};

struct AttentionKernelSets {
  AttentionKernelSet<float> singles;
  AttentionKernelSet<double> doubles;
};

// The fastest that this machine runs for so many queries of `width` elements.
const AttentionKernels<float>& attention_kernels(std::int64_t queries,
                                                 std::int64_t width,
                                                 float) noexcept;
const AttentionKernels<double>& attention_kernels(std::int64_t queries,
                                                  std::int64_t width,
                                                  double) noexcept;

// Of each instruction set, for those that run it.
extern const AttentionKernelSets kAttentionBaseline;
#if defined(__x86_64__)
extern const AttentionKernelSets kAttentionAvx2;
extern const AttentionKernelSets kAttentionAvx512;
#endif

}  // namespace berth::shim
