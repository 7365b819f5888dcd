// Arguments as delegates pass them to operators.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "berth/result.h"
#include "berth/tensor.h"
#include "shim/handle.h"

namespace berth::shim {

// Null when the argument was left out.
inline Result<const Tensor*> borrow_optional(const AtenTensorHandle* handle) {
  if (handle == nullptr || *handle == nullptr) return nullptr;
  BERTH_TRY(const Tensor* tensor, borrow(*handle));
  return tensor;
}

template <typename T>
std::optional<T> optional_of(const T* value) {
  if (value == nullptr) return std::nullopt;
  return *value;
}

// Fails with kInvalidArgument for what cannot be a list; `what` says which.
inline Result<std::span<const std::int64_t>> list_of(
    const std::int64_t* values, std::int64_t count,
    const char* what = "a list") {
  if (count < 0 || (count > 0 && values == nullptr))
    return fail(Code::kInvalidArgument, "expected ", what, ", found ", count,
                " numbers at ", static_cast<const void*>(values));
  return std::span(values, static_cast<std::size_t>(count));
}

// Writes a handle for each of `tensors`, or none.
template <std::size_t N>
Status give_all(std::array<Tensor, N>&& tensors,
                const std::array<AtenTensorHandle*, N>& out) {
  std::array<AtenTensorHandle, N> made{};
  for (std::size_t i = 0; i < N; ++i) {
    made[i] = wrap(std::move(tensors[i]));
    if (made[i] != nullptr) continue;
    for (const AtenTensorHandle each : made) discard(each);
    return fail(Code::kOutOfMemory, "no memory for the handle of result ", i);
  }
  for (std::size_t i = 0; i < N; ++i) *out[i] = made[i];
  return ok();
}

}  // namespace berth::shim
