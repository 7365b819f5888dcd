// Convolutions of floats in oneDNN.
#pragma once

#include "berth/result.h"
#include "shim/ops/convolution_shape.h"

namespace berth::shim {

// Borrows its elements. No two elements of the input, or of the weight, share
// memory; the bias has neighbors, or is null; the output is gapless.
struct FloatConvolution {
  const ConvolutionShape* shape = nullptr;
  Volume input_at;
  Volume weight_at;
  const float* input = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;
  float* output = nullptr;
  bool channels_last = false;  // The output.
};

// What oneDNN needs to know of a convolution is worked out once and kept.
// Threads  any.
// Fails    kUnsupported where oneDNN has none like it, and as DnnlPrimitive.
Status convolve_in_dnnl(const FloatConvolution& convolution);

}  // namespace berth::shim
