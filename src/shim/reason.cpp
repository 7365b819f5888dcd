#include "shim/reason.h"

#include "shim/kept_text.h"

namespace berth::shim {
namespace {

thread_local KeptText kept{};

}  // namespace

void keep_reason(std::string_view entry, std::string_view text) noexcept {
  kept.clear();
  kept.append(entry);
  kept.append(": ");
  kept.append(text);
}

void clear_reason() noexcept { kept.clear(); }

std::string take_reason() { return kept.take(); }

}  // namespace berth::shim
