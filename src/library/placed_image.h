// An image where the loader can map it: in a private file or in memory.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <variant>

#include "base/bytes.h"
#include "berth/options.h"
#include "berth/result.h"
#include "library/placed_file.h"
#include "library/placed_memory.h"
#include "library/written_image.h"

namespace berth::library {

// Owns     the file or the memory, and removes it.
// Threads  a value with one owner; place() may run in any number of threads.
// Fails    kInvalidArgument for options that no machine could meet; kSystem
//          when the image can be put nowhere, with every attempt and its
//          reason.
class PlacedImage {
 public:
  // `image` in parts, in order. What was written is mapped at once: a place
  // from which no code can be mapped is none.
  static Result<PlacedImage> place(std::span<const base::Bytes> image,
                                   const ModelOptions& options);

  // For the loader; kept after remove(). Never the same twice in a process.
  const std::string& path() const noexcept;

  bool in_memory() const noexcept {
    return std::holds_alternative<PlacedMemory>(placed_);
  }

  // Why it is in memory although a file was to be tried first; else empty.
  const std::string& fallback_reason() const noexcept { return reason_; }

  // The bytes that place() wrote; nothing the second time.
  WrittenImage take_written() noexcept;

  // Removes it early, to learn whether it went well. May be repeated.
  Status remove();

 private:
  using Placed = std::variant<PlacedFile, PlacedMemory>;
  explicit PlacedImage(Placed placed, std::string reason = {}) noexcept
      : placed_(std::move(placed)), reason_(std::move(reason)) {}

  Placed placed_;
  std::string reason_;
};

}  // namespace berth::library
