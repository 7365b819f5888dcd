#include "elf/renames.h"

#include <array>

namespace berth::elf {
namespace {

struct Rename {
  std::string_view from;
  std::string_view to;
  bool is_prefix;
};

constexpr std::array kRenames = {
    Rename{"aoti_torch_", "aoti_berth_", true},
    Rename{"Sleef_", "Berth_", true},
    Rename{"__cxa_thread_atexit", "berth_thread_atexit", false},
    Rename{"getenv", "berenv", false},
};

// The string table has no room for anything longer.
constexpr bool lengths_are_equal() {
  for (const Rename& rename : kRenames)
    if (rename.from.size() != rename.to.size()) return false;
  return true;
}
static_assert(lengths_are_equal());

}  // namespace

std::optional<std::string> renamed(std::string_view import) {
  for (const Rename& rename : kRenames) {
    if (!import.starts_with(rename.from)) continue;
    if (!rename.is_prefix && import.size() != rename.from.size()) continue;
    std::string name(rename.to);
    name += import.substr(rename.from.size());
    return name;
  }
  return std::nullopt;
}

bool is_torch_library(std::string_view needed) noexcept {
  needed.remove_prefix(needed.rfind('/') + 1);
  for (const std::string_view stem : {"libtorch", "libc10"}) {
    if (!needed.starts_with(stem)) continue;
    // "libtorch_cpu.so", "libtorch.so.2", but not "libtorchvision.so".
    const std::string_view rest = needed.substr(stem.size());
    if (rest.starts_with('.') || rest.starts_with('_'))
      return rest.find(".so") != std::string_view::npos;
  }
  return false;
}

}  // namespace berth::elf
