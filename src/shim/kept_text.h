// Text kept for a thread: of bounded length, so that keeping it never fails.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace berth::shim {

// Owns     its bytes; constant-initialized, so that a thread_local one costs
//          nothing before its first use, and nothing at thread exit.
// Threads  one.
struct KeptText {
  void clear() noexcept { size = 0; }

  // What is beyond 1 KiB is dropped.
  void append(std::string_view part) noexcept {
    const std::size_t n = std::min(part.size(), text.size() - size);
    std::copy_n(part.data(), n, text.data() + size);
    size += n;
  }

  std::string take() { return {text.data(), std::exchange(size, 0)}; }

  std::array<char, 1024> text;
  std::size_t size;
};

}  // namespace berth::shim
