// torch's convolution, in one, two and three dimensions.
#pragma once

#include "berth/result.h"
#include "berth/tensor.h"
#include "shim/ops/convolution_shape.h"

namespace berth::shim {

// The result has the strides that torch gives it (channels_last.h). The input
// may lack its batch, which then the result lacks, too.
//
// float runs in oneDNN, and BFloat16 where the CPU multiplies it; elsewhere it
// is widened, as Half is: both are summed in float and rounded once. double and
// integers run in a loop of our own.
// Fails with kInvalidArgument for what does not fit together, kUnsupported for
// other dtypes, kOutOfMemory, kSystem without oneDNN.
Result<Tensor> convolution(const ConvolutionCall& call);

}  // namespace berth::shim
