// Memory for tensors: aligned blocks, kept for the next run instead of given
// back, so that a model in its steady state makes no system call.
//
// Small blocks are kept per thread, without a lock; large ones, and what a
// thread has too many of, in one pool for the process. Both are bounded.
#pragma once

#include <cstddef>
#include <cstdint>

namespace berth::tensor {

// Of every block: a cache line, and the widest vector register.
inline constexpr std::size_t kAlignment = 64;

// At least `bytes` bytes, uninitialized; null when there is no memory.
// The caller owns the block until release(), on any thread.
[[nodiscard]] void* allocate(std::size_t bytes) noexcept;

// Takes back a block from allocate(bytes); `bytes` must be the same.
void release(void* block, std::size_t bytes) noexcept;

// Gives what the calling thread and the process keep back to the system.
// Returns how many bytes that were. What other threads keep (at most 1 MiB
// each) stays theirs until they end.
std::size_t trim() noexcept;

// How often allocate() had to ask the system, since the process began.
std::uint64_t system_allocation_count() noexcept;

}  // namespace berth::tensor
