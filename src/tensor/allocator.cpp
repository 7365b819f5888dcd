#include "tensor/allocator.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define BERTH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BERTH_ASAN 1
#endif
#endif
#ifdef BERTH_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace berth::tensor {
namespace {

// Sizes are rounded up to one of four steps per doubling, in units of
// kAlignment: 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ... So at most a
// fifth of a block is unused, and a block fits every later request of its
// class.
struct SizeClass {
  std::size_t index;
  std::size_t bytes;
};

constexpr std::size_t kMostBytes = std::size_t{1} << 46;
constexpr std::size_t kMostSmallBytes = std::size_t{64} << 10;
constexpr std::size_t kMostThreadBytes = std::size_t{1} << 20;
constexpr std::size_t kMostSharedBytes = std::size_t{256} << 20;

constexpr SizeClass size_class(std::size_t bytes) noexcept {
  const std::size_t last =
      bytes <= kAlignment ? 0 : (bytes - 1) / kAlignment;  // Units, less one.
  if (last < 4) return {last, (last + 1) * kAlignment};
  const auto shift = static_cast<std::size_t>(std::bit_width(last)) - 3;
  const std::size_t step = last >> shift;
  return {shift * 4 + step, ((step + 1) << shift) * kAlignment};
}

constexpr std::size_t kClasses = size_class(kMostBytes).index + 1;
constexpr std::size_t kSmallClasses = size_class(kMostSmallBytes).index + 1;

// A kept block is a link in its class's list. Under AddressSanitizer the rest
// of it is poisoned, so that using a released tensor is still found.
struct Link {
  Link* next;
};

void poison([[maybe_unused]] Link* link, [[maybe_unused]] std::size_t bytes) {
#ifdef BERTH_ASAN
  __asan_poison_memory_region(link + 1, bytes - sizeof(Link));
#endif
}

void unpoison([[maybe_unused]] Link* link, [[maybe_unused]] std::size_t bytes) {
#ifdef BERTH_ASAN
  __asan_unpoison_memory_region(link, bytes);
#endif
}

void push(Link*& list, Link* link) noexcept {
  link->next = list;
  list = link;
}

Link* pop(Link*& list) noexcept {
  Link* link = list;
  if (link != nullptr) list = link->next;
  return link;
}

constexpr std::size_t bytes_of_class(std::size_t index) noexcept {
  if (index < 4) return (index + 1) * kAlignment;
  return ((index % 4 + 5) << (index / 4 - 1)) * kAlignment;
}
static_assert(bytes_of_class(size_class(65537).index) ==
              size_class(65537).bytes);

// Gives one list's blocks back to the system; returns their bytes.
std::size_t free_all(Link*& list, std::size_t block_bytes) noexcept {
  std::size_t freed = 0;
  while (Link* link = pop(list)) {
    unpoison(link, block_bytes);
    std::free(link);
    freed += block_bytes;
  }
  return freed;
}

// The process's pool. Never destroyed: threads may end after main().
class Pool {
 public:
  Link* take(std::size_t index, std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    Link* link = pop(lists_[index]);
    if (link != nullptr) kept_bytes_ -= bytes;
    return link;
  }

  void give(Link* link, std::size_t index, std::size_t bytes) noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (bytes <= kMostSharedBytes - kept_bytes_) {
        kept_bytes_ += bytes;
        push(lists_[index], link);
        return;
      }
    }
    unpoison(link, bytes);
    std::free(link);
  }

  std::size_t trim() noexcept {
    const std::lock_guard lock(mutex_);
    std::size_t freed = 0;
    for (std::size_t i = 0; i < kClasses; ++i)
      freed += free_all(lists_[i], bytes_of_class(i));
    kept_bytes_ = 0;
    return freed;
  }

 private:
  std::mutex mutex_;
  std::size_t kept_bytes_ = 0;
  std::array<Link*, kClasses> lists_{};
};

Pool& pool() noexcept {
  alignas(Pool) static std::byte memory[sizeof(Pool)];
  static Pool* const made = new (memory) Pool;
  return *made;
}

struct ThreadCache {
  std::size_t kept_bytes = 0;
  std::array<Link*, kSmallClasses> lists{};

  ~ThreadCache();
};

// Plain values, readable until the thread is gone, also in destructors of
// thread-local objects that run after the cache's. Then the pool serves alone.
thread_local ThreadCache* thread_cache = nullptr;
thread_local bool thread_ends = false;

ThreadCache::~ThreadCache() {
  thread_cache = nullptr;
  thread_ends = true;
  for (std::size_t i = 0; i < kSmallClasses; ++i)
    while (Link* link = pop(lists[i])) pool().give(link, i, bytes_of_class(i));
}

ThreadCache* cache() noexcept {
  if (thread_cache == nullptr && !thread_ends) [[unlikely]] {
    thread_local ThreadCache made;
    thread_cache = &made;
  }
  return thread_cache;
}

std::atomic<std::uint64_t> system_allocations{0};

Link* ask_system(std::size_t bytes) noexcept {
  system_allocations.fetch_add(1, std::memory_order_relaxed);
  void* block = std::aligned_alloc(kAlignment, bytes);
  if (block == nullptr && trim() > 0)
    block = std::aligned_alloc(kAlignment, bytes);
  return static_cast<Link*>(block);
}

}  // namespace

void* allocate(std::size_t bytes) noexcept {
  if (bytes > kMostBytes) return nullptr;
  const SizeClass size = size_class(bytes);
  Link* link = nullptr;
  if (size.index < kSmallClasses) {
    ThreadCache* mine = cache();
    if (mine != nullptr) link = pop(mine->lists[size.index]);
    if (link != nullptr) {
      mine->kept_bytes -= size.bytes;
      unpoison(link, size.bytes);
      return link;
    }
  }
  link = pool().take(size.index, size.bytes);
  if (link != nullptr)
    unpoison(link, size.bytes);
  else
    link = ask_system(size.bytes);
  return link;
}

void release(void* block, std::size_t bytes) noexcept {
  if (block == nullptr) return;
  const SizeClass size = size_class(bytes);
  Link* link = new (block) Link{nullptr};
  poison(link, size.bytes);
  if (size.index < kSmallClasses) {
    ThreadCache* mine = cache();
    if (mine != nullptr && mine->kept_bytes + size.bytes <= kMostThreadBytes) {
      mine->kept_bytes += size.bytes;
      push(mine->lists[size.index], link);
      return;
    }
  }
  pool().give(link, size.index, size.bytes);
}

std::size_t trim() noexcept {
  std::size_t freed = 0;
  if (ThreadCache* mine = cache()) {
    for (std::size_t i = 0; i < kSmallClasses; ++i)
      freed += free_all(mine->lists[i], bytes_of_class(i));
    mine->kept_bytes = 0;
  }
  return freed + pool().trim();
}

std::uint64_t system_allocation_count() noexcept {
  return system_allocations.load(std::memory_order_relaxed);
}

}  // namespace berth::tensor
