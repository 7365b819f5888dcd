// Convolutions in a loop of our own, for what oneDNN does not do.
#pragma once

#include "shim/ops/convolution_shape.h"

namespace berth::shim {

// Borrows its elements, which may have any strides; a null bias is none. The
// output has a place of its own for each element.
template <typename T>
struct PlainConvolution {
  const ConvolutionShape* shape = nullptr;
  Volume input_at;
  Volume weight_at;
  Volume output_at;
  const T* input = nullptr;
  const T* weight = nullptr;
  const T* bias = nullptr;
  std::int64_t bias_stride = 1;
  T* output = nullptr;
};

// Integers wrap around, as torch's do. Allocates nothing.
void convolve(const PlainConvolution<float>& convolution) noexcept;
void convolve(const PlainConvolution<double>& convolution) noexcept;
void convolve(const PlainConvolution<std::uint8_t>& convolution) noexcept;
void convolve(const PlainConvolution<std::int8_t>& convolution) noexcept;
void convolve(const PlainConvolution<std::int16_t>& convolution) noexcept;
void convolve(const PlainConvolution<std::int32_t>& convolution) noexcept;
void convolve(const PlainConvolution<std::int64_t>& convolution) noexcept;

}  // namespace berth::shim
