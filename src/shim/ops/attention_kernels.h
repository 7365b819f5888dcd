// The inner loops of attention, for one block of keys at a time.
//
// Scores are held with the queries beside each other in a vector, not the keys:
// maxima and sums over the keys then need no step across a vector, and keys and
// values are read where they are, one element for many queries.
//
// Queries come in panels of `panel` (two vectors' worth); an array of a panel
// has `panel` elements a row, of which the first `count` matter.
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
  std::int64_t panel;

  // scores[key][query] = the product of a row of `keys`, whose elements are
  // neighbors, and a column of `queries`, [dimension][query].
  void (*score)(const T* queries, std::int64_t count,
                const Matrix<const T>& keys, T* scores);

  // Takes `keys` rows of scores into account, and makes weights of them:
  // exp(score - top). NaN stays NaN.
  void (*soften)(std::int64_t keys, std::int64_t count, T* scores,
                 const Softmax<T>& softmax);

  // sums[dimension][query] = shrink[query] * sums[dimension][query] + the sum
  // over the keys of weight and value. Elements of a row are neighbors.
  void (*gather)(const T* weights, std::int64_t count,
                 const Matrix<const T>& values, const T* shrink, T* sums);
};

// The fastest that this machine runs.
template <typename T>
const AttentionKernels<T>& attention_kernels() noexcept;
template <>
const AttentionKernels<float>& attention_kernels<float>() noexcept;
template <>
const AttentionKernels<double>& attention_kernels<double>() noexcept;

#if defined(__x86_64__)
extern const AttentionKernels<float> kAttentionAvx2;
extern const AttentionKernels<float> kAttentionAvx512;
#endif

}  // namespace berth::shim
