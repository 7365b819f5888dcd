#include "shim/reason.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace berth::shim {
namespace {

struct Kept {
  std::array<char, 1024> text;
  std::size_t size;

  void append(std::string_view part) noexcept {
    const std::size_t n = std::min(part.size(), text.size() - size);
    std::copy_n(part.data(), n, text.data() + size);
    size += n;
  }
};

thread_local Kept kept{};

}  // namespace

void keep_reason(std::string_view entry, std::string_view text) noexcept {
  kept.size = 0;
  kept.append(entry);
  kept.append(": ");
  kept.append(text);
}

void clear_reason() noexcept { kept.size = 0; }

std::string take_reason() {
  std::string text(kept.text.data(), kept.size);
  kept.size = 0;
  return text;
}

}  // namespace berth::shim
