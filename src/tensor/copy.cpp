#include "tensor/copy.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace berth::tensor {
namespace {

// One loop of the copy. Units: elements for `size`, bytes for the steps.
struct Loop {
  std::int64_t size;
  std::int64_t source_step;
  std::int64_t target_step;
};

// The loops of a copy, outermost first.
struct Nest {
  std::array<Loop, kMostDims> loops;
  std::size_t depth = 0;

  // False when there are no elements.
  bool make(Extents sizes, Extents source_strides, Extents target_strides,
            std::int64_t element_size) noexcept {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] == 0) return false;
      if (sizes[i] == 1) continue;
      loops[depth++] = {sizes[i], source_strides[i] * element_size,
                        target_strides[i] * element_size};
    }
    if (depth == 0) loops[depth++] = {1, element_size, element_size};
    simplify();
    return true;
  }

  // Puts the smallest target steps innermost, so that writes are sequential,
  // and makes one loop of two that walk memory as one.
  void simplify() noexcept {
    const auto begin = loops.begin();
    for (auto it = begin; it != begin + depth; ++it)
      for (auto at = it; at != begin && (at - 1)->target_step < at->target_step;
           --at)
        std::iter_swap(at - 1, at);
    std::size_t kept = 0;
    for (std::size_t i = 1; i < depth; ++i) {
      Loop& outer = loops[kept];
      const Loop& inner = loops[i];
      if (outer.source_step == inner.source_step * inner.size &&
          outer.target_step == inner.target_step * inner.size)
        outer = {outer.size * inner.size, inner.source_step, inner.target_step};
      else
        loops[++kept] = inner;
    }
    depth = std::min(depth, kept + 1);
  }
};

template <std::size_t kSize>
void copy_row(const Loop& row, const std::byte* source, std::byte* target) {
  for (std::int64_t i = 0; i < row.size; ++i)
    std::memcpy(target + i * row.target_step, source + i * row.source_step,
                kSize);
}

using CopyRow = void (*)(const Loop&, const std::byte*, std::byte*);

CopyRow copy_row_of(std::size_t element_size) noexcept {
  switch (element_size) {
    case 1:
      return copy_row<1>;
    case 2:
      return copy_row<2>;
    case 4:
      return copy_row<4>;
    case 8:
      return copy_row<8>;
    default:
      return copy_row<16>;
  }
}

template <typename Target, typename Row>
void walk(const Nest& nest, std::size_t level, const std::byte* source,
          Target target, const Row& row) {
  const Loop& loop = nest.loops[level];
  if (level + 1 == nest.depth) {
    row(loop, source, target);
    return;
  }
  for (std::int64_t i = 0; i < loop.size; ++i)
    walk(nest, level + 1, source + i * loop.source_step,
         target + i * loop.target_step, row);
}

}  // namespace

void copy_elements(Extents sizes, std::size_t element_size,
                   const std::byte* source, Extents source_strides,
                   std::byte* target, Extents target_strides) noexcept {
  const auto bytes = static_cast<std::int64_t>(element_size);
  Nest nest;
  if (!nest.make(sizes, source_strides, target_strides, bytes)) return;
  const Loop& inner = nest.loops[nest.depth - 1];
  if (inner.source_step == bytes && inner.target_step == bytes) {
    walk(nest, 0, source, target,
         [bytes](const Loop& row, const std::byte* from, std::byte* to) {
           std::memcpy(to, from, static_cast<std::size_t>(row.size * bytes));
         });
  } else {
    walk(nest, 0, source, target, copy_row_of(element_size));
  }
}

bool equal_elements(Extents sizes, std::size_t element_size, const std::byte* a,
                    Extents a_strides, const std::byte* b,
                    Extents b_strides) noexcept {
  Nest nest;
  if (!nest.make(sizes, a_strides, b_strides,
                 static_cast<std::int64_t>(element_size)))
    return true;
  bool equal = true;
  walk(nest, 0, a, b,
       [&](const Loop& row, const std::byte* left, const std::byte* right) {
         for (std::int64_t i = 0; equal && i < row.size; ++i)
           equal = std::memcmp(left + i * row.source_step,
                               right + i * row.target_step, element_size) == 0;
       });
  return equal;
}

void zero_elements(Extents sizes, std::size_t element_size, std::byte* target,
                   Extents strides) noexcept {
  static constexpr std::array<std::byte, 16> kZero{};
  static constexpr std::array<std::int64_t, kMostDims> kStandStill{};
  if (is_contiguous(sizes, strides)) {
    std::size_t bytes = element_size;
    for (const std::int64_t size : sizes)
      bytes *= static_cast<std::size_t>(size);
    if (bytes > 0) std::memset(target, 0, bytes);
    return;
  }
  copy_elements(sizes, element_size, kZero.data(),
                Extents(kStandStill).first(sizes.size()), target, strides);
}

}  // namespace berth::tensor
