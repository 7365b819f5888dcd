#include "tensor/layout.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace berth::tensor {

std::int64_t outer_stride(std::int64_t stride, std::int64_t size) noexcept {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(stride, std::max<std::int64_t>(size, 1), &out))
    return std::numeric_limits<std::int64_t>::max();
  return out;
}

Result<Footprint> measure(Extents sizes, Extents strides, std::int64_t offset) {
  if (sizes.size() != strides.size())
    return fail(Code::kInvalidArgument, "expected as many strides as sizes ",
                to_text(sizes), ", found ", to_text(strides));
  if (sizes.size() > kMostDims)
    return fail(Code::kUnsupported, "tensor has ", sizes.size(),
                " dimensions, at most ", kMostDims, " are supported");
  Footprint footprint{1, 0};
  std::int64_t last = offset;
  bool negative = offset < 0;
  bool wraps = false;
  bool empty = false;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    negative |= sizes[i] < 0 || strides[i] < 0;
    // A zero makes the product zero whatever the others are; they need not fit.
    empty |= sizes[i] == 0;
    wraps |=
        __builtin_mul_overflow(footprint.numel, sizes[i], &footprint.numel);
    std::int64_t step = 0;
    wraps |= __builtin_mul_overflow(sizes[i] - 1, strides[i], &step);
    wraps |= __builtin_add_overflow(last, step, &last);
  }
  if (negative)
    return fail(Code::kInvalidArgument, "sizes ", to_text(sizes), ", strides ",
                to_text(strides), " and storage offset ", offset,
                " must not be negative");
  if (empty) return Footprint{0, 0};
  std::int64_t end = 0;
  if (wraps || __builtin_add_overflow(last, 1, &end))
    return fail(Code::kInvalidArgument, "sizes ", to_text(sizes),
                " with strides ", to_text(strides), " and storage offset ",
                offset, " count more elements than 64 bits can");
  footprint.end = end;
  return footprint;
}

Result<std::int64_t> checked_numel(Extents sizes) {
  static constexpr std::array<std::int64_t, kMostDims> kNoStrides{};
  if (sizes.size() > kMostDims)
    return fail(Code::kUnsupported, "tensor has ", sizes.size(),
                " dimensions, at most ", kMostDims, " are supported");
  BERTH_TRY(const Footprint footprint,
            measure(sizes, Extents(kNoStrides).first(sizes.size()), 0));
  return footprint.numel;
}

void contiguous_strides(Extents sizes, std::int64_t* strides) noexcept {
  std::int64_t stride = 1;
  for (std::size_t i = sizes.size(); i > 0; --i) {
    strides[i - 1] = stride;
    stride = outer_stride(stride, sizes[i - 1]);
  }
}

void dense_strides(Extents sizes, Extents strides, std::int64_t* out) noexcept {
  // Dimensions, innermost first. An insertion sort, because it is stable, needs
  // no memory, and can leave alone what has no order: dimensions that repeat
  // one element (stride 0) have no place of their own in memory.
  std::array<std::size_t, kMostDims> order{};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    order[i] = sizes.size() - 1 - i;
    std::size_t moved = i;
    for (std::size_t at = i; at > 0; --at) {
      std::size_t& inner = order[at - 1];
      std::size_t& outer = order[moved];
      if (strides[inner] == 0 || strides[outer] == 0) continue;
      if (strides[inner] < strides[outer]) break;
      if (strides[inner] == strides[outer] && sizes[inner] <= sizes[outer])
        continue;
      std::swap(inner, outer);
      moved = at - 1;
    }
  }
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    out[order[i]] = stride;
    stride = outer_stride(stride, sizes[order[i]]);
  }
}

bool is_contiguous(Extents sizes, Extents strides) noexcept {
  std::int64_t expected = 1;
  bool contiguous = true;
  for (std::size_t i = sizes.size(); i > 0; --i) {
    if (sizes[i - 1] == 0) return true;
    if (sizes[i - 1] == 1) continue;
    contiguous &= strides[i - 1] == expected;
    expected = outer_stride(expected, sizes[i - 1]);
  }
  return contiguous;
}

bool broadcast_strides(Extents sizes, Extents strides, Extents target,
                       std::int64_t* out) noexcept {
  if (sizes.size() > target.size()) return false;
  const std::size_t added = target.size() - sizes.size();
  std::fill_n(out, added, 0);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const bool same = sizes[i] == target[added + i];
    if (!same && sizes[i] != 1) return false;
    out[added + i] = same ? strides[i] : 0;
  }
  return true;
}

std::string to_text(Extents extents) {
  std::string text = "[";
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(extents[i]);
  }
  return text + "]";
}

}  // namespace berth::tensor
