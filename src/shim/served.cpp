#include "shim/served.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "shim/functions.h"

namespace berth::shim {
namespace {

constexpr ServedFunction kRows[] = {
#define BERTH_SERVED(name, theme) {"aoti_torch_" #name, #theme},
#include "shim/served.inc"
#undef BERTH_SERVED
};
constexpr std::size_t kCount = std::size(kRows);

constexpr bool before(const ServedFunction& a, std::string_view name) {
  return std::string_view(a.name) < name;
}

constexpr auto kSorted = [] {
  std::array<ServedFunction, kCount> rows{};
  std::copy_n(kRows, kCount, rows.begin());
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return before(a, b.name); });
  return rows;
}();
static_assert(std::adjacent_find(kSorted.begin(), kSorted.end(),
                                 [](const auto& a, const auto& b) {
                                   return !before(a, b.name);
                                 }) == kSorted.end(),
              "served.inc has a name twice");

// In the order of the table. A use of every function: no linker drops one.
const void* const kAddresses[] = {
#define BERTH_SERVED(name, theme) \
  reinterpret_cast<const void*>(&aoti_berth_##name),
#include "shim/served.inc"
#undef BERTH_SERVED
};

}  // namespace

std::span<const ServedFunction> served() noexcept { return kSorted; }

const ServedFunction* find_served(std::string_view import) noexcept {
  const auto it =
      std::lower_bound(kSorted.begin(), kSorted.end(), import, before);
  return it != kSorted.end() && it->name == import ? &*it : nullptr;
}

const void* served_address(std::string_view import) noexcept {
  const auto it =
      std::find_if(std::begin(kRows), std::end(kRows),
                   [&](const auto& row) { return row.name == import; });
  return it == std::end(kRows) ? nullptr : kAddresses[it - std::begin(kRows)];
}

}  // namespace berth::shim
