// Which strides torch gives to the result of a convolution: row-major ones, or
// those of images whose channels are neighbors ("channels last").
//
// Generated kernels rely on them. torch decides by the strides of the input
// and of the weight, and by which of its libraries does the work; that was
// found by calling it, and tests/operators holds it against the torch at hand.
#pragma once

#include "berth/dtype.h"
#include "shim/ops/convolution_shape.h"

namespace berth::shim {

// `input` and `weight` as they were given, both not empty.
bool gives_channels_last(const ConvolutionShape& shape, const Volume& input,
                         const Volume& weight, DType dtype) noexcept;

// Gapless strides for sizes whose product fits.
Quintuple gapless_strides(const Quintuple& sizes, bool channels_last) noexcept;

// True when the elements of `volume` lie in memory as those strides say, apart
// from dimensions of size 1.
bool is_gapless(const Volume& volume, bool channels_last) noexcept;

}  // namespace berth::shim
