// The bytes of a placed image as the loader will find them, to be checked
// before it does.
#pragma once

#include <cstddef>
#include <string>

#include "base/bytes.h"
#include "berth/result.h"

namespace berth::library {

// Owns     a read-only mapping of the placed image; unmaps it.
// Threads  a value with one owner.
class WrittenImage {
 public:
  // Opens `path` as the loader will, and maps it executable as the loader will,
  // to learn whether that is permitted. Fails with kSystem where either is
  // refused, or where `path` is not the file that `fd` is.
  static Result<WrittenImage> open(const std::string& path, int fd);

  WrittenImage() noexcept = default;  // Nothing is mapped.
  WrittenImage(WrittenImage&& other) noexcept;
  WrittenImage& operator=(WrittenImage&& other) noexcept;
  ~WrittenImage();

  base::Bytes bytes() const noexcept {
    return {static_cast<const std::byte*>(address_), size_};
  }

 private:
  WrittenImage(void* address, std::size_t size) noexcept
      : address_(address), size_(size) {}

  void* address_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace berth::library
