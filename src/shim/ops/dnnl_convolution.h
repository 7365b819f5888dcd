// Convolutions in oneDNN.
#pragma once

#include <dnnl.h>

#include "berth/result.h"
#include "shim/ops/convolution_shape.h"

namespace berth::shim {

// Borrows its elements. No two elements of the input, or of the weight, share
// memory; the bias has neighbors, or is null; the output is gapless.
// All are of one type.
struct DnnlConvolution {
  const ConvolutionShape* shape = nullptr;
  Volume input_at;
  Volume weight_at;
  const void* input = nullptr;
  const void* weight = nullptr;
  const void* bias = nullptr;
  void* output = nullptr;
  bool channels_last = false;  // The output.
  dnnl_data_type_t type = dnnl_f32;
};

// What oneDNN needs to know of a convolution is worked out once and kept.
// Threads  any.
// Fails    kUnsupported where oneDNN has none like it, or only its loops of
//          last resort, and as DnnlPrimitive.
Status convolve_in_dnnl(const DnnlConvolution& convolution);

}  // namespace berth::shim
