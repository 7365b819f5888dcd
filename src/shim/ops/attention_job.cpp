#include "shim/ops/attention_job.h"

#include <algorithm>

#include "shim/ops/attention_block.h"
#include "shim/ops/parallel.h"
#include "shim/ops/scratch.h"

namespace berth::shim {
namespace {

// So many queries at a time that keys and values are read from the second cache
// or beyond only every now and then.
constexpr std::int64_t kQueries = 128;
// Multiply-adds that are worth another thread.
constexpr double kWorkOfThread = 1 << 18;

int threads_for(const AttentionJob& job) noexcept {
  const double work = 2.0 * static_cast<double>(job.batches * job.heads) *
                      static_cast<double>(job.queries) *
                      static_cast<double>(job.keys) *
                      static_cast<double>(job.width);
  return thread_count(
      static_cast<std::int64_t>(std::min(work / kWorkOfThread, 1e6)));
}

std::int64_t quotient(std::int64_t a, std::int64_t b) noexcept {
  return (a + b - 1) / b;
}

// How many panels are a task: less than the most, when threads would have
// nothing to do. The results do not depend on it.
std::int64_t panels_of_task(const AttentionJob& job, std::int64_t panel,
                            int threads) noexcept {
  const std::int64_t all = quotient(job.queries, panel);
  const std::int64_t most = std::max<std::int64_t>(kQueries / panel, 1);
  if (threads == 1) return std::min(all, most);
  const std::int64_t share =
      quotient(job.batches * job.heads * all, std::int64_t{2} * threads);
  return std::min({all, most, share});
}

// Blocks as in T. Dao, D. Fu, S. Ermon, A. Rudra and C. Re, "FlashAttention:
// Fast and Memory-Efficient Exact Attention with IO-Awareness", 2022: no more
// of the scores than one block of queries and keys is ever in memory.
template <typename E>
Status attend_as(const AttentionJob& job) {
  using Block = AttentionBlock<E>;
  using T = typename Block::T;
  const AttentionKernels<T>& kernels =
      attention_kernels(job.queries, job.width, T{});
  const int wanted = threads_for(job);
  const std::int64_t panels = panels_of_task(job, kernels.panel, wanted);
  const std::int64_t block = panels * kernels.panel;
  const std::int64_t blocks = quotient(job.queries, block);
  const std::int64_t tasks = job.batches * job.heads * blocks;
  const auto threads = static_cast<int>(std::min<std::int64_t>(wanted, tasks));
  const std::int64_t size = Block::size(job, kernels.panel, panels);
  BERTH_TRY(const Scratch<T> scratch, Scratch<T>::of(threads * size));
  share_tasks(tasks, threads, [&](int thread, std::int64_t task) {
    const std::int64_t head = task / blocks;
    Block(job, kernels, panels, scratch.data() + thread * size)
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
      return attend_as<tensor::Half>(job);
    default:
      return attend_as<tensor::BFloat16>(job);
  }
}

}  // namespace berth::shim
