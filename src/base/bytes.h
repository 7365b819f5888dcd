// Views of bytes, and reading whole values out of them without alignment or
// bounds faults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "base/checked.h"

namespace berth::base {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

// The T at `offset`, or nothing when it does not lie inside `bytes`.
template <typename T>
std::optional<T> load(Bytes bytes, std::uint64_t offset) noexcept {
  static_assert(std::is_trivially_copyable_v<T>);
  if (!fits(offset, sizeof(T), bytes.size())) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// Stores `value` at `offset`; false, and nothing written, when it would not
// lie inside `bytes`.
template <typename T>
[[nodiscard]] bool store(MutableBytes bytes, std::uint64_t offset,
                         const T& value) noexcept {
  static_assert(std::is_trivially_copyable_v<T>);
  if (!fits(offset, sizeof(T), bytes.size())) return false;
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
  return true;
}

}  // namespace berth::base
