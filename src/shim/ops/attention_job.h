// Attention of all heads, block by block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "berth/dtype.h"
#include "berth/result.h"
#include "shim/ops/matrix.h"

namespace berth::shim {

// A tensor of four dimensions: batch, head, row, column. Borrows its elements.
struct Heads {
  std::byte* data = nullptr;
  std::array<std::int64_t, 4> steps{};

  template <typename T>
  Matrix<T> matrix(std::int64_t batch, std::int64_t head, std::int64_t rows,
                   std::int64_t cols) const noexcept {
    return {reinterpret_cast<T*>(data) + batch * steps[0] + head * steps[1],
            rows, cols, steps[2], steps[3]};
  }
};

// Everything is checked, and all sizes but `keys` are at least 1.
struct AttentionJob {
  std::int64_t batches = 0;
  std::int64_t heads = 0;
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::int64_t width = 0;          // Elements of a query, a key or a value.
  std::int64_t heads_per_key = 1;  // Heads that share keys and values.
  double scale = 1;
  bool causal = false;  // Query i sees the keys up to i.
  bool masked = false;
  DType dtype{};       // Of query, key, value and output.
  DType mask_dtype{};  // `dtype`, or float32.
  Heads query, key, value, mask, output;
  Heads normalizer;  // log(sum(exp(score))), whose columns are one.
};

// Fails with kOutOfMemory.
// Memory   grows with the number of threads and with `width`, not with the
//          numbers of queries and keys.
Status attend(const AttentionJob& job);

}  // namespace berth::shim
