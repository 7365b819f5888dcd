// Sizes and strides: what memory they need, with arithmetic that cannot wrap.
//
// Knows nothing of tensors, storages or dtypes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "berth/result.h"

namespace berth::tensor {

// Units    elements, as everything in this file.
using Extents = std::span<const std::int64_t>;

// torch's own limit for the operators that loop over tensors.
inline constexpr std::size_t kMostDims = 64;

// What a view covers of its storage.
struct Footprint {
  std::int64_t numel = 0;
  // One past the last element, counted from the start of the storage; 0 when
  // there are no elements.
  std::int64_t end = 0;
};

// Fails with kInvalidArgument when there are not as many strides as sizes, a
// number is negative, or a product or sum does not fit; with kUnsupported
// beyond kMostDims.
Result<Footprint> measure(Extents sizes, Extents strides, std::int64_t offset);

// The product of `sizes`. Fails as measure() does.
Result<std::int64_t> checked_numel(Extents sizes);

// The stride of the dimension around one of `size` and `stride`. Saturates: a
// tensor without elements may have other sizes whose product does not fit, and
// its strides are never used.
std::int64_t outer_stride(std::int64_t stride, std::int64_t size) noexcept;

// Writes the row-major strides of `sizes`, whose product must be known to fit.
void contiguous_strides(Extents sizes, std::int64_t* strides) noexcept;

// Strides of a gapless tensor whose dimensions lie in memory in the order of
// those of `strides`: what torch's preserve_format gives to a copy.
void dense_strides(Extents sizes, Extents strides, std::int64_t* out) noexcept;

// True when elements in row-major order are also neighbors in memory.
bool is_contiguous(Extents sizes, Extents strides) noexcept;

// Writes the strides with which a tensor of `sizes` and `strides` is read as
// one of the sizes `target`, repeating it where it has size 1 or no dimension;
// false, when it cannot be.
[[nodiscard]] bool broadcast_strides(Extents sizes, Extents strides,
                                     Extents target,
                                     std::int64_t* out) noexcept;

// "[2, 3]"
std::string to_text(Extents extents);

}  // namespace berth::tensor
