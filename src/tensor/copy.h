// Copying elements between memory of different strides.
#pragma once

#include <cstddef>

#include "tensor/layout.h"

namespace berth::tensor {

// Copies the elements of `sizes` from `source` to `target`, which must not
// overlap. `element_size` is 1, 2, 4, 8 or 16 bytes. Strides count elements.
void copy_elements(Extents sizes, std::size_t element_size,
                   const std::byte* source, Extents source_strides,
                   std::byte* target, Extents target_strides) noexcept;

// True when the elements of `a` and `b` have the same bytes.
bool equal_elements(Extents sizes, std::size_t element_size, const std::byte* a,
                    Extents a_strides, const std::byte* b,
                    Extents b_strides) noexcept;

// Sets the bytes of all elements to zero.
void zero_elements(Extents sizes, std::size_t element_size, std::byte* target,
                   Extents strides) noexcept;

}  // namespace berth::tensor
