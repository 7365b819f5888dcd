// Memory that an operator needs while it runs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "berth/result.h"
#include "tensor/allocator.h"

namespace berth::shim {

// Owns     `count` uninitialized elements, aligned to tensor::kAlignment.
// Fails    kOutOfMemory.
template <typename T>
class Scratch {
 public:
  static Result<Scratch> of(std::int64_t count) {
    std::size_t bytes = 0;
    Scratch made;
    if (!__builtin_mul_overflow(count, sizeof(T), &bytes))
      made.data_ = static_cast<T*>(tensor::allocate(bytes));
    made.bytes_ = bytes;
    if (made.data_ == nullptr)
      return fail(Code::kOutOfMemory, "no memory for ", count, " elements of ",
                  sizeof(T), " bytes between the steps of an operator");
    return made;
  }

  Scratch(Scratch&& other) noexcept : data_(other.data_), bytes_(other.bytes_) {
    other.data_ = nullptr;
  }
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch() { tensor::release(data_, bytes_); }

  T* data() const noexcept { return data_; }

 private:
  Scratch() = default;
  T* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace berth::shim
