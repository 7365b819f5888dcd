// What a convolution computes, apart from where its elements lie.
#pragma once

#include <array>
#include <cstdint>

#include "berth/result.h"
#include "berth/tensor.h"
#include "tensor/layout.h"

namespace berth::shim {

// The arguments of a convolution, unchecked. Borrows what it names.
struct ConvolutionCall {
  const Tensor* input = nullptr;
  const Tensor* weight = nullptr;
  const Tensor* bias = nullptr;  // Null for none.
  tensor::Extents stride;
  tensor::Extents padding;
  tensor::Extents dilation;
  bool transposed = false;
  tensor::Extents output_padding;
  std::int64_t groups = 1;
};

// Depth, height, width.
using Triple = std::array<std::int64_t, 3>;

// Batch, channels, depth, height, width; of a weight: the channels that torch
// names first, then second.
using Quintuple = std::array<std::int64_t, 5>;

// A checked convolution. One over a line is one over an image of unit height,
// as in torch; an image has unit depth.
struct ConvolutionShape {
  std::size_t dims = 2;   // Of space: 2 or 3.
  std::size_t given = 2;  // Those that the caller knows: 1, 2 or 3.
  bool batched = true;
  bool transposed = false;
  std::int64_t batch = 1;
  std::int64_t groups = 1;
  std::int64_t in_channels = 0;
  std::int64_t out_channels = 0;
  Triple input{1, 1, 1};
  Triple kernel{1, 1, 1};
  Triple output{1, 1, 1};
  Triple stride{1, 1, 1};
  Triple padding{0, 0, 0};
  Triple dilation{1, 1, 1};
  Triple output_padding{0, 0, 0};

  bool operator==(const ConvolutionShape&) const = default;

  Quintuple output_sizes() const {
    return {batch, out_channels, output[0], output[1], output[2]};
  }
};

// Sizes and strides with all five dimensions.
struct Volume {
  Quintuple sizes{1, 1, 1, 1, 1};
  Quintuple strides{};
};

// Fails with kInvalidArgument for what torch refuses, too: sizes, dtypes and
// numbers that do not fit together.
Result<ConvolutionShape> check_convolution(const ConvolutionCall& call);

// `tensor` with the dimensions added that it lacks.
Volume volume_of(const Tensor& tensor, const ConvolutionShape& shape);

}  // namespace berth::shim
