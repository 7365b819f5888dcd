#include "shim/handle.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <new>
#include <utility>

#include "tensor/allocator.h"

namespace berth::shim {
namespace {

// Threads count apart, so that they do not fight over one cache line. A handle
// destroyed on another thread makes one count negative; the sum is right.
struct alignas(64) Count {
  std::atomic<std::int64_t> live{0};
};
std::array<Count, 16> counts;
std::atomic<std::size_t> next_thread{0};

void count(std::int64_t change) noexcept {
  // One more than the thread's index, so that zero can mean "none yet":
  // thread-locals without initializers cost no check.
  thread_local std::size_t number;
  if (number == 0) [[unlikely]]
    number = 1 + next_thread.fetch_add(1, std::memory_order_relaxed);
  counts[number % counts.size()].live.fetch_add(change,
                                                std::memory_order_relaxed);
}

}  // namespace

AtenTensorHandle wrap(Tensor&& tensor) noexcept {
  void* slot = tensor::allocate(sizeof(Tensor));
  if (slot == nullptr) return nullptr;
  count(1);
  return reinterpret_cast<AtenTensorHandle>(new (slot)
                                                Tensor(std::move(tensor)));
}

void discard(AtenTensorHandle handle) noexcept {
  if (handle == nullptr) return;
  auto* tensor = reinterpret_cast<Tensor*>(handle);
  tensor->~Tensor();
  tensor::release(tensor, sizeof(Tensor));
  count(-1);
}

Tensor unwrap(AtenTensorHandle handle) noexcept {
  if (handle == nullptr) return {};
  Tensor tensor = std::move(*reinterpret_cast<Tensor*>(handle));
  discard(handle);
  return tensor;
}

Status give(Result<Tensor>&& tensor, AtenTensorHandle* out) {
  if (!tensor) return tl::unexpected<Error>(std::move(tensor).error());
  *out = wrap(std::move(*tensor));
  if (*out == nullptr)
    return fail(Code::kOutOfMemory, "no memory for a tensor handle");
  return ok();
}

std::size_t live_handle_count() noexcept {
  std::int64_t sum = 0;
  for (const Count& each : counts)
    sum += each.live.load(std::memory_order_relaxed);
  return static_cast<std::size_t>(sum);
}

}  // namespace berth::shim
