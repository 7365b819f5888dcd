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

int threads_for(const AttentionJob& job, std::int64_t tasks) noexcept {
  const double work = 2.0 * static_cast<double>(job.batches * job.heads) *
                      static_cast<double>(job.queries) *
                      static_cast<double>(job.keys) *
                      static_cast<double>(job.width);
  return thread_count(static_cast<std::int64_t>(
      std::min(static_cast<double>(tasks), work / kWorkOfThread)));
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
  const std::int64_t panels =
      std::min(std::max<std::int64_t>(kQueries / kernels.panel, 1),
               (job.queries + kernels.panel - 1) / kernels.panel);
  const std::int64_t block = panels * kernels.panel;
  const std::int64_t blocks = (job.queries + block - 1) / block;
  const std::int64_t tasks = job.batches * job.heads * blocks;
  const int threads = threads_for(job, tasks);
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
