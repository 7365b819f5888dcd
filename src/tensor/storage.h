// Memory that tensors share, counted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace berth::tensor {

// Owns     its memory (create), or borrows somebody's (borrow), who may ask to
//          be told at the end (give_back_by). Destroys itself when the last
//          share is released.
// Threads  shares may be retained and released from any thread.
// Units    bytes.
class Storage {
 public:
  // Takes the memory back. Called once, on the thread that released the last
  // share, after everything that the others did.
  using GiveBack = void (*)(void* owner) noexcept;

  // `size_bytes` bytes, uninitialized, aligned to kAlignment. The caller owns
  // the first share. Null when there is no memory.
  [[nodiscard]] static Storage* create(std::size_t size_bytes) noexcept;
  [[nodiscard]] static Storage* borrow(void* data,
                                       std::size_t size_bytes) noexcept;

  // Has `give_back(owner)` called at the end. For borrowed memory, while there
  // is just one share.
  void give_back_by(GiveBack give_back, void* owner) noexcept {
    give_back_ = give_back;
    owner_ = owner;
  }

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

  // False for borrowed memory.
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
  GiveBack give_back_ = nullptr;
  void* owner_ = nullptr;
};

}  // namespace berth::tensor
