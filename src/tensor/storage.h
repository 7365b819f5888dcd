// Memory that tensors share, counted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace berth::tensor {

// Owns     its memory (create), or borrows the caller's (borrow). Destroys
//          itself when the last share is released.
// Threads  shares may be retained and released from any thread.
// Units    bytes.
class Storage {
 public:
  // `size_bytes` bytes, uninitialized, aligned to kAlignment. The caller owns
  // the first share. Null when there is no memory.
  [[nodiscard]] static Storage* create(std::size_t size_bytes) noexcept;
  [[nodiscard]] static Storage* borrow(void* data,
                                       std::size_t size_bytes) noexcept;

  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  void retain() noexcept { shares_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    // The only share can be given up without a locked instruction: nobody else
    // is there to take another.
    if (shares_.load(std::memory_order_acquire) == 1 ||
        shares_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      destroy();
  }

  // Acquires what was done by those who released theirs.
  std::size_t share_count() const noexcept {
    return shares_.load(std::memory_order_acquire);
  }

  std::byte* data() const noexcept { return data_; }
  std::size_t size_bytes() const noexcept { return size_bytes_; }

  // False for the caller's memory.
  bool owns_data() const noexcept;

 private:
  Storage(std::byte* data, std::size_t size_bytes, std::size_t block_bytes)
      : data_(data), size_bytes_(size_bytes), block_bytes_(block_bytes) {}
  ~Storage() = default;
  void destroy() noexcept;

  std::atomic<std::size_t> shares_{1};
  std::byte* data_;
  std::size_t size_bytes_;
  // Of the allocator's block that starts with this object.
  std::size_t block_bytes_;
};

}  // namespace berth::tensor
