#include "shim/ops/attention_job.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "shim/ops/attention_kernels.h"
#include "shim/ops/parallel.h"
#include "shim/ops/scratch.h"
#include "shim/ops/widen.h"

namespace berth::shim {
namespace {

using tensor::BFloat16;
using tensor::Half;

// So many keys that a panel's scores stay in the first cache, and so many
// queries that keys and values are read from the second cache or beyond only
// every now and then.
constexpr std::int64_t kKeys = 128;
constexpr std::int64_t kQueries = 128;
// Multiply-adds that are worth another thread.
constexpr double kWorkOfThread = 1 << 18;

float wide(float value) { return value; }
double wide(double value) { return value; }
float wide(Half value) { return to_float(value); }
float wide(BFloat16 value) { return to_float(value); }

void narrow(float value, float& to) { to = value; }
void narrow(double value, double& to) { to = value; }
void narrow(float value, Half& to) { to = tensor::to_half(value); }
void narrow(float value, BFloat16& to) { to = tensor::to_bfloat16(value); }

// `m` as the kernels read it: in T, the elements of a row neighbors. Copied to
// `memory` if it is not so already.
template <typename T, typename E>
Matrix<const T> readable(const Matrix<const E>& m, T* memory) noexcept {
  if constexpr (std::is_same_v<T, E>)
    if (m.cols <= 1 || m.col_step == 1) return m;
  for (std::int64_t i = 0; i < m.rows; ++i) {
    T* const to = memory + i * m.cols;
    if constexpr (sizeof(E) == 2)
      if (m.col_step == 1) {
        widen(&m.at(i, 0), m.cols, to);
        continue;
      }
    for (std::int64_t j = 0; j < m.cols; ++j) to[j] = wide(m.at(i, j));
  }
  return packed<const T>(memory, m.rows, m.cols);
}

template <typename T, typename E>
void add_transposed(const Matrix<const E>& mask, T* scores,
                    std::int64_t panel) {
  for (std::int64_t k = 0; k < mask.cols; ++k)
    for (std::int64_t i = 0; i < mask.rows; ++i)
      scores[k * panel + i] += static_cast<T>(wide(mask.at(i, k)));
}

// What one thread needs for a block of queries, and the work on it.
template <typename E>
class Block {
 public:
  using T = std::conditional_t<std::is_same_v<E, double>, double, float>;

  Block(const AttentionJob& job, std::int64_t panels, T* memory) noexcept
      : job_(job), panels_(panels), panel_(kernels_.panel) {
    for (const auto& [to, size] : parts(job, panels)) {
      this->*to = memory;
      memory += rounded(size);
    }
  }

  // Elements of memory that a Block takes.
  static std::int64_t size(const AttentionJob& job, std::int64_t panels) {
    std::int64_t sum = 0;
    for (const auto& part : parts(job, panels)) sum += rounded(part.size);
    return sum;
  }

  static std::int64_t panel() noexcept { return attention_kernels<T>().panel; }

  void run(std::int64_t batch, std::int64_t head, std::int64_t first) noexcept {
    count_ = std::min(panels_ * panel_, job_.queries - first);
    first_ = first;
    batch_ = batch;
    head_ = head;
    pack_queries();
    const std::int64_t shared = head / job_.heads_per_key;
    const auto keys =
        job_.key.matrix<const E>(batch, shared, job_.keys, job_.width);
    const auto values =
        job_.value.matrix<const E>(batch, shared, job_.keys, job_.width);
    const std::int64_t end =
        job_.causal ? std::min(job_.keys, first + count_) : job_.keys;
    for (std::int64_t at = 0; at < end; at += kKeys) {
      const std::int64_t n = std::min(kKeys, end - at);
      visit(at, readable(keys.block(at, 0, n, job_.width), keys_),
            readable(values.block(at, 0, n, job_.width), values_));
    }
    finish();
  }

 private:
  struct Part {
    T* Block::*to;
    std::int64_t size;
  };

  static std::array<Part, 8> parts(const AttentionJob& job,
                                   std::int64_t panels) noexcept {
    const std::int64_t queries = panels * panel();
    const std::int64_t copied = std::min(kKeys, job.keys) * job.width;
    return {{{&Block::queries_, queries * job.width},
             {&Block::sums_, queries * job.width},
             {&Block::top_, queries},
             {&Block::total_, queries},
             {&Block::shrink_, panel()},
             {&Block::scores_, kKeys * panel()},
             {&Block::keys_, copied},
             {&Block::values_, copied}}};
  }

  // Whole cache lines.
  static std::int64_t rounded(std::int64_t size) noexcept {
    constexpr std::int64_t kLine = 64 / sizeof(T);
    return (size + kLine - 1) / kLine * kLine;
  }

  // Those that are not there are zeros, whose results nobody reads.
  void pack_queries() noexcept {
    const auto from =
        job_.query.matrix<const E>(batch_, head_, job_.queries, job_.width);
    const auto scale = static_cast<T>(job_.scale);
    for (std::int64_t i = 0; i < count_ || i % panel_ != 0; ++i) {
      T* const to = queries_ + i / panel_ * panel_ * job_.width + i % panel_;
      for (std::int64_t d = 0; d < job_.width; ++d)
        to[d * panel_] = i < count_ ? wide(from.at(first_ + i, d)) * scale : 0;
    }
    const std::int64_t padded = (count_ + panel_ - 1) / panel_ * panel_;
    std::fill_n(sums_, padded * job_.width, T{0});
    std::fill_n(top_, padded, -std::numeric_limits<T>::infinity());
    std::fill_n(total_, padded, T{0});
  }

  // A block of keys, the first of which is `at`.
  void visit(std::int64_t at, const Matrix<const T>& keys,
             const Matrix<const T>& values) noexcept {
    for (std::int64_t i = 0; i < count_; i += panel_) {
      const std::int64_t count = std::min(panel_, count_ - i);
      const std::int64_t end =
          job_.causal ? first_ + i + count - at : keys.rows;
      const std::int64_t seen = std::min(keys.rows, end);
      if (seen <= 0) continue;
      kernels_.score(queries_ + i * job_.width, count,
                     keys.block(0, 0, seen, keys.cols), scores_);
      if (job_.masked) add_mask(i, count, at, seen);
      if (job_.causal) hide(i, at, seen);
      kernels_.soften(seen, count, scores_, {top_ + i, total_ + i, shrink_});
      kernels_.gather(scores_, count, values.block(0, 0, seen, values.cols),
                      shrink_, sums_ + i * job_.width);
    }
  }

  void add_mask(std::int64_t i, std::int64_t count, std::int64_t at,
                std::int64_t keys) noexcept {
    if (job_.mask_dtype == job_.dtype)
      add_transposed(mask<E>(i, count, at, keys), scores_, panel_);
    else
      add_transposed(mask<float>(i, count, at, keys), scores_, panel_);
  }

  template <typename M>
  Matrix<const M> mask(std::int64_t i, std::int64_t count, std::int64_t at,
                       std::int64_t keys) const noexcept {
    return job_.mask.matrix<const M>(batch_, head_, job_.queries, job_.keys)
        .block(first_ + i, at, count, keys);
  }

  // Of the queries from `i`, the keys that come after them.
  void hide(std::int64_t i, std::int64_t at, std::int64_t keys) noexcept {
    const std::int64_t query = first_ + i;
    for (std::int64_t k = std::max<std::int64_t>(0, query + 1 - at); k < keys;
         ++k)
      std::fill_n(scores_ + k * panel_, std::min(panel_, at + k - query),
                  -std::numeric_limits<T>::infinity());
  }

  // Queries that see no key are 0 in torch, and so is their normalizer.
  void finish() noexcept {
    const auto to =
        job_.output.matrix<E>(batch_, head_, job_.queries, job_.width);
    const auto normalizer =
        job_.normalizer.matrix<T>(batch_, head_, job_.queries, 1);
    for (std::int64_t i = 0; i < count_; ++i) {
      const T total = total_[i];
      const T share = total == 0 ? T{0} : 1 / total;
      const T* const sums =
          sums_ + i / panel_ * panel_ * job_.width + i % panel_;
      for (std::int64_t d = 0; d < job_.width; ++d)
        narrow(sums[d * panel_] * share, to.at(first_ + i, d));
      normalizer.at(first_ + i, 0) =
          total == 0 ? T{0} : top_[i] + std::log(total);
    }
  }

  const AttentionJob& job_;
  const AttentionKernels<T>& kernels_ = attention_kernels<T>();
  std::int64_t panels_;
  std::int64_t panel_;
  // Of the block that run() is about.
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
  T* shrink_ = nullptr;
  T* scores_ = nullptr;
  T* keys_ = nullptr;
  T* values_ = nullptr;
};

// Blocks as in T. Dao, D. Fu, S. Ermon, A. Rudra and C. Re, "FlashAttention:
// Fast and Memory-Efficient Exact Attention with IO-Awareness", 2022: no more
// of the scores than one block of queries and keys is ever in memory.
template <typename E>
Status attend_as(const AttentionJob& job) {
  using T = typename Block<E>::T;
  const std::int64_t panel = Block<E>::panel();
  const std::int64_t panels =
      std::min(kQueries / panel, (job.queries + panel - 1) / panel);
  const std::int64_t block = panels * panel;
  const std::int64_t blocks = (job.queries + block - 1) / block;
  const std::int64_t tasks = job.batches * job.heads * blocks;
  const double work = 2.0 * static_cast<double>(job.batches * job.heads) *
                      static_cast<double>(job.queries) *
                      static_cast<double>(job.keys) *
                      static_cast<double>(job.width);
  const int threads = thread_count(static_cast<std::int64_t>(
      std::min(static_cast<double>(tasks), work / kWorkOfThread)));
  const std::int64_t size = Block<E>::size(job, panels);
  BERTH_TRY(const Scratch<T> scratch, Scratch<T>::of(threads * size));
  share_tasks(tasks, threads, [&](int thread, std::int64_t task) {
    const std::int64_t head = task / blocks;
    Block<E>(job, panels, scratch.data() + thread * size)
        .run(head / job.heads, head % job.heads, task % blocks * block);
  });
  return ok();
}

}  // namespace

Status attend(const AttentionJob& job) {
  switch (job.dtype) {
    case DType::kFloat32:
      return attend_as<float>(job);
    case DType::kFloat64:
      return attend_as<double>(job);
    case DType::kFloat16:
      return attend_as<Half>(job);
    default:
      return attend_as<BFloat16>(job);
  }
}

}  // namespace berth::shim
