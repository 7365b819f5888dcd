// A block of queries of one head, and what a thread needs to work on it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "shim/ops/attention_job.h"
#include "shim/ops/attention_kernels.h"
#include "shim/ops/transpose.h"
#include "shim/ops/widen.h"
#include "tensor/element.h"

namespace berth::shim {

inline float wide(float value) { return value; }
inline double wide(double value) { return value; }
inline float wide(tensor::Half value) { return to_float(value); }
inline float wide(tensor::BFloat16 value) { return to_float(value); }

inline void narrow(float value, float& to) { to = value; }
inline void narrow(double value, double& to) { to = value; }
inline void narrow(float value, tensor::Half& to) {
  to = tensor::to_half(value);
}
inline void narrow(float value, tensor::BFloat16& to) {
  to = tensor::to_bfloat16(value);
}

// `m` as the kernels read it: in T, the elements of a row neighbors. Copied to
// `memory` if it is not so already.
template <typename T, typename E>
Matrix<const T> readable(const Matrix<const E>& m, T* memory) noexcept {
  if constexpr (std::is_same_v<T, E>) {
    if (m.cols <= 1 || m.col_step == 1) return m;
  }
  // A row that is all of them is copied once.
  const std::int64_t rows =
      m.row_step == 0 ? std::min<std::int64_t>(1, m.rows) : m.rows;
  for (std::int64_t i = 0; i < rows; ++i) {
    T* const to = memory + i * m.cols;
    if constexpr (sizeof(E) == 2) {
      if (m.col_step == 1) {
        widen(&m.at(i, 0), m.cols, to);
        continue;
      }
    }
    for (std::int64_t j = 0; j < m.cols; ++j)
      to[j] = static_cast<T>(wide(m.at(i, j)));
  }
  return {memory, m.rows, m.cols, m.row_step == 0 ? 0 : m.cols, 1};
}

// Of elements E, which are computed with in T. Borrows the job and the memory.
//
// Threads  one. Another Block on other memory may run on another.
template <typename E>
class AttentionBlock {
 public:
  using T = std::conditional_t<std::is_same_v<E, double>, double, float>;

  // So many keys at a time that a panel's scores stay in the first cache.
  static constexpr std::int64_t kKeys = 128;

  AttentionBlock(const AttentionJob& job, const AttentionKernels<T>& kernels,
                 std::int64_t panels, T* memory) noexcept
      : job_(job), kernels_(kernels), panels_(panels), panel_(kernels.panel) {
    for (const auto& [to, size] : parts(job, panel_, panels)) {
      this->*to = memory;
      memory += rounded(size);
    }
  }

  // Elements of memory that a Block of so many panels takes. They cannot be too
  // many for 64 bits: a query of that width is in memory already.
  static std::int64_t size(const AttentionJob& job, std::int64_t panel,
                           std::int64_t panels) noexcept {
    std::int64_t sum = 0;
    for (const Part& part : parts(job, panel, panels))
      sum += rounded(part.size);
    return sum;
  }

  // Writes output and normalizer of the queries from `first` on, a block.
  void run(std::int64_t batch, std::int64_t head, std::int64_t first) noexcept {
    count_ = std::min(panels_ * panel_, job_.queries - first);
    first_ = first;
    batch_ = batch;
    head_ = head;
    const std::int64_t shared = head / job_.heads_per_key;
    const auto keys = whole<const E>(job_.key, shared, job_.keys);
    const auto values = whole<const E>(job_.value, shared, job_.keys);
    for (std::int64_t i = 0; i < count_; i += panel_) start(i);
    const std::int64_t end =
        job_.causal ? std::min(job_.keys, first + count_) : job_.keys;
    for (std::int64_t at = 0; at < end; at += kKeys) {
      const std::int64_t n = std::min(kKeys, end - at);
      const auto some_keys = readable(keys.block(at, 0, n, job_.width), keys_);
      const auto some_values =
          readable(values.block(at, 0, n, job_.width), values_);
      for (std::int64_t i = 0; i < count_; i += panel_)
        visit(i, at, some_keys, some_values);
    }
    for (std::int64_t i = 0; i < count_; i += panel_) finish(i);
  }

 private:
  struct Part {
    T* AttentionBlock::*to;
    std::int64_t size;
  };

  static std::array<Part, 10> parts(const AttentionJob& job, std::int64_t panel,
                                    std::int64_t panels) noexcept {
    using Self = AttentionBlock;
    const std::int64_t queries = panels * panel;
    const std::int64_t copied = std::min(kKeys, job.keys) * job.width;
    return {{{&Self::queries_, queries * job.width},
             {&Self::sums_, queries * job.width},
             {&Self::top_, queries},
             {&Self::total_, queries},
             {&Self::factor_, panel},
             {&Self::scores_, kKeys * panel},
             {&Self::lines_, panel * job.width},
             {&Self::mask_, job.masked ? panel * kKeys : 0},
             {&Self::keys_, copied},
             {&Self::values_, copied}}};
  }

  // Whole cache lines.
  static std::int64_t rounded(std::int64_t size) noexcept {
    constexpr std::int64_t kLine = 64 / sizeof(T);
    return (size + kLine - 1) / kLine * kLine;
  }

  template <typename M>
  Matrix<M> whole(const Heads& heads, std::int64_t head,
                  std::int64_t rows) const noexcept {
    return heads.matrix<M>(batch_, head, rows, job_.width);
  }

  // How many of the panel's queries there are.
  std::int64_t filled(std::int64_t i) const noexcept {
    return std::min(panel_, count_ - i);
  }

  // The panel from query `i` on. Queries that are not there are zeros, whose
  // results nobody reads.
  void start(std::int64_t i) noexcept {
    T* const queries = queries_ + i * job_.width;
    const std::int64_t count = filled(i);
    const auto from = whole<const E>(job_.query, head_, job_.queries)
                          .block(first_ + i, 0, count, job_.width);
    if (count < panel_) std::fill_n(queries, panel_ * job_.width, T{0});
    transpose(readable(from, lines_), queries, panel_);
    std::fill_n(sums_ + i * job_.width, panel_ * job_.width, T{0});
    std::fill_n(top_ + i, panel_, kNever);
    std::fill_n(total_ + i, panel_, T{0});
  }

  // The panel from query `i` on sees the keys from `at` on.
  void visit(std::int64_t i, std::int64_t at, const Matrix<const T>& keys,
             const Matrix<const T>& values) noexcept {
    const std::int64_t count = filled(i);
    const std::int64_t seen =
        job_.causal ? std::min(keys.rows, first_ + i + count - at) : keys.rows;
    if (seen <= 0) return;
    kernels_.score(queries_ + i * job_.width, count,
                   keys.block(0, 0, seen, keys.cols),
                   static_cast<T>(job_.scale), scores_);
    if (job_.masked) {
      if (job_.mask_dtype == job_.dtype)
        add_mask<E>(i, at, seen);
      else
        add_mask<float>(i, at, seen);
    }
    if (job_.causal) hide(i, at, seen);
    kernels_.soften(seen, count, scores_, {top_ + i, total_ + i, factor_});
    kernels_.gather(scores_, count, values.block(0, 0, seen, values.cols),
                    factor_, sums_ + i * job_.width);
  }

  template <typename M>
  void add_mask(std::int64_t i, std::int64_t at, std::int64_t keys) noexcept {
    const auto mask =
        job_.mask.matrix<const M>(batch_, head_, job_.queries, job_.keys)
            .block(first_ + i, at, filled(i), keys);
    add_transposed(readable(mask, mask_), scores_, panel_);
  }

  // Of the queries from `i` on, the keys that come after them.
  void hide(std::int64_t i, std::int64_t at, std::int64_t keys) noexcept {
    const std::int64_t query = first_ + i;
    for (std::int64_t k = std::max<std::int64_t>(0, query + 1 - at); k < keys;
         ++k)
      std::fill_n(scores_ + k * panel_, std::min(panel_, at + k - query),
                  kNever);
  }

  // Queries that see no key are 0 in torch, and so is their normalizer.
  void finish(std::int64_t i) noexcept {
    const std::int64_t count = filled(i);
    const auto normalizer =
        job_.normalizer.matrix<T>(batch_, head_, job_.queries, 1);
    for (std::int64_t q = 0; q < count; ++q) {
      const T total = total_[i + q];
      factor_[q] = total == 0 ? T{0} : 1 / total;
      normalizer.at(first_ + i + q, 0) =
          total == 0 ? T{0} : top_[i + q] + std::log(total);
    }
    T* const sums = sums_ + i * job_.width;
    // To see no more keys is to multiply by the factor.
    kernels_.gather(scores_, count, {values_, 0, job_.width, job_.width, 1},
                    factor_, sums);
    const auto to = whole<E>(job_.output, head_, job_.queries)
                        .block(first_ + i, 0, count, job_.width);
    const Matrix<const T> from{sums, job_.width, count, panel_, 1};
    if constexpr (std::is_same_v<T, E>) {
      if (to.leading() != 0) return transpose(from, to.data, to.leading());
    }
    transpose(from, lines_, job_.width);
    for (std::int64_t q = 0; q < count; ++q)
      for (std::int64_t d = 0; d < job_.width; ++d)
        narrow(lines_[q * job_.width + d], to.at(q, d));
  }

  static constexpr T kNever = -std::numeric_limits<T>::infinity();

  const AttentionJob& job_;
  const AttentionKernels<T>& kernels_;
  std::int64_t panels_;
  std::int64_t panel_;
  // What run() is about.
  std::int64_t batch_ = 0;
  std::int64_t head_ = 0;
  std::int64_t first_ = 0;
  std::int64_t count_ = 0;
  // A panel after the other, each as in attention_kernels.h.
  T* queries_ = nullptr;
  T* sums_ = nullptr;
  T* top_ = nullptr;
  T* total_ = nullptr;
  // Of one panel and one block of keys.
  T* factor_ = nullptr;
  T* scores_ = nullptr;
  // Copies of what the kernels cannot read or write where it is.
  T* lines_ = nullptr;
  T* mask_ = nullptr;
  T* keys_ = nullptr;
  T* values_ = nullptr;
};

}  // namespace berth::shim
