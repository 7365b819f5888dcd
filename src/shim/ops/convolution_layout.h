// Where the tensors of a convolution lie, in oneDNN's words.
#pragma once

#include <dnnl.h>

#include <cstdint>
#include <vector>

#include "berth/result.h"
#include "shim/ops/convolution_shape.h"

namespace berth::shim {

using Numbers = std::vector<std::int64_t>;

// The numbers of a triple that oneDNN wants to see.
Numbers spatial_numbers(const Triple& values, const ConvolutionShape& shape);

// How input and output may lie in memory while oneDNN works.
enum class Arrangement { kRowMajor, kChannelsLast, kBlocks, kAny };

// What was measured to be fastest comes first, on AVX2 and AVX-512 and with
// the time for copies. Left to itself, oneDNN likes channels last on AVX-512,
// to which copying from and to row-major memory costs more than to blocks.
std::vector<Arrangement> arrangements(const ConvolutionShape& shape,
                                      bool channels_last);

// An input or output as it lies in memory, or may lie. Where both do,
// `channels_last` says which of the two it is taken for. Fail as
// dnnl_layout() does.
Result<dnnl_memory_desc_t> image_layout(const Volume& volume,
                                        const ConvolutionShape& shape,
                                        bool channels_last,
                                        dnnl_data_type_t type);
Result<dnnl_memory_desc_t> image_layout(const Quintuple& sizes,
                                        const ConvolutionShape& shape,
                                        Arrangement how, dnnl_data_type_t type);

// oneDNN names the groups, then the channels that come out, then those that go
// in; torch joins the groups to the first, which in a transposed convolution
// are those that go in.
struct WeightLayout {
  Numbers sizes;
  Numbers strides;
};

WeightLayout weight_layout(const Volume& volume, const ConvolutionShape& shape);

}  // namespace berth::shim
