#include "elf/renames.h"

#include <array>

#include "elf/edited_bytes.h"

namespace berth::elf {
namespace {

struct Rename {
  std::string_view from;
  std::string_view to;
  bool is_prefix;
};

// std::cerr: the only name of C++'s that is renamed.
constexpr std::string_view kStandardError = "_ZSt4cerr";

constexpr std::array kRenames = {
    Rename{"aoti_torch_", "aoti_berth_", true},
    Rename{"Sleef_", "Berth_", true},
    Rename{"__cxa_thread_atexit", "berth_thread_atexit", false},
    Rename{"getenv", "berenv", false},
    Rename{kStandardError, "berth_err", false},
};

// The string table has no room for anything longer, nor does an Edit for more
// than the longest name that is not a prefix.
constexpr bool lengths_are_equal() {
  for (const Rename& rename : kRenames)
    if (rename.from.size() != rename.to.size()) return false;
  return true;
}
static_assert(lengths_are_equal());
static_assert(std::string_view("__cxa_thread_atexit").size() <= Edit::kMost);

const Rename* find(std::string_view import) noexcept {
  // Nearly all names are C++'s, "_Z...", and thousands are asked about.
  if (import.size() < 2 ||
      (import.starts_with("_Z") && import != kStandardError))
    return nullptr;
  for (const Rename& rename : kRenames)
    if (import.starts_with(rename.from) &&
        (rename.is_prefix || import.size() == rename.from.size()))
      return &rename;
  return nullptr;
}

}  // namespace

std::optional<std::string> renamed(std::string_view import) {
  const Rename* rename = find(import);
  if (rename == nullptr) return std::nullopt;
  std::string name(rename->to);
  name += import.substr(rename->from.size());
  return name;
}

bool keeps_name(std::string_view import) noexcept {
  return find(import) == nullptr;
}

bool is_renamed_to(std::string_view import, std::string_view name) noexcept {
  const Rename* rename = find(import);
  return rename != nullptr && name.size() == import.size() &&
         name.starts_with(rename->to) &&
         name.substr(rename->to.size()) == import.substr(rename->to.size());
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
