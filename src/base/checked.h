// Arithmetic on sizes that came from outside: nothing wraps.
#pragma once

#include <cstdint>
#include <optional>

namespace berth::base {

// True when [offset, offset + size) lies inside `total`. Subtracts instead of
// adding, so a hostile offset cannot wrap around.
constexpr bool fits(std::uint64_t offset, std::uint64_t size,
                    std::uint64_t total) noexcept {
  return size <= total && offset <= total - size;
}

// a * b, or nothing when the product does not fit into T.
template <typename T>
constexpr std::optional<T> product(T a, T b) noexcept {
  T out{};
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

// a + b, or nothing when the sum does not fit into T.
template <typename T>
constexpr std::optional<T> sum(T a, T b) noexcept {
  T out{};
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}

}  // namespace berth::base
