#include "tensor/storage.h"

#include <limits>
#include <new>

#include "tensor/allocator.h"

namespace berth::tensor {

// Owned memory follows the object in the same block, one alignment further on.
static_assert(sizeof(Storage) <= kAlignment);

Storage* Storage::create(std::size_t size_bytes) noexcept {
  if (size_bytes > std::numeric_limits<std::size_t>::max() - kAlignment)
    return nullptr;
  const std::size_t block_bytes = kAlignment + size_bytes;
  void* block = allocate(block_bytes);
  if (block == nullptr) return nullptr;
  return new (block) Storage(static_cast<std::byte*>(block) + kAlignment,
                             size_bytes, block_bytes);
}

Storage* Storage::borrow(void* data, std::size_t size_bytes) noexcept {
  void* block = allocate(kAlignment);
  if (block == nullptr) return nullptr;
  return new (block)
      Storage(static_cast<std::byte*>(data), size_bytes, kAlignment);
}

bool Storage::owns_data() const noexcept {
  return data_ == reinterpret_cast<const std::byte*>(this) + kAlignment;
}

void Storage::destroy() noexcept {
  const std::size_t block_bytes = block_bytes_;
  const GiveBack give_back = give_back_;
  void* const owner = owner_;
  this->~Storage();
  tensor::release(this, block_bytes);
  if (give_back != nullptr) give_back(owner);
}

}  // namespace berth::tensor
