#include "shim/ops/convolution_layout.h"

#include <algorithm>
#include <utility>

#include "base/cpu.h"
#include "shim/ops/channels_last.h"
#include "shim/ops/dnnl_primitive.h"

namespace berth::shim {
namespace {

// Sizes or strides without the depth that an image does not have.
Numbers plain(const Quintuple& values, const ConvolutionShape& shape) {
  Numbers out(values.begin(), values.begin() + 2);
  out.insert(out.end(), values.end() - shape.dims, values.end());
  return out;
}

// Where a dimension has size 1, its stride says nothing, and may be one that
// oneDNN refuses: it becomes that of the nearest tidy layout.
Quintuple tidy_strides(const Volume& volume, bool channels_last) {
  for (const bool last : {channels_last, !channels_last})
    if (is_gapless(volume, last)) return gapless_strides(volume.sizes, last);
  Quintuple strides = volume.strides;
  std::int64_t around = 1;
  for (std::size_t i = 0; i < strides.size(); ++i)
    if (volume.sizes[i] != 1)
      around =
          std::max(around, tensor::outer_stride(strides[i], volume.sizes[i]));
  for (std::size_t i = 0; i < strides.size(); ++i)
    if (volume.sizes[i] == 1) strides[i] = around;
  return strides;
}

}  // namespace

Numbers spatial_numbers(const Triple& values, const ConvolutionShape& shape) {
  return {values.end() - shape.dims, values.end()};
}

Result<dnnl_memory_desc_t> image_layout(const Volume& volume,
                                        const ConvolutionShape& shape,
                                        bool channels_last,
                                        dnnl_data_type_t type) {
  return dnnl_layout(plain(volume.sizes, shape),
                     plain(tidy_strides(volume, channels_last), shape), type);
}

Result<dnnl_memory_desc_t> image_layout(const Quintuple& sizes,
                                        const ConvolutionShape& shape,
                                        Arrangement how,
                                        dnnl_data_type_t type) {
  if (how == Arrangement::kAny)
    return dnnl_layout(plain(sizes, shape), dnnl_format_tag_any, type);
  if (how == Arrangement::kBlocks)
    return dnnl_layout(plain(sizes, shape),
                       shape.dims == 2 ? dnnl_aBcd16b : dnnl_aBcde16b, type);
  const bool channels_last = how == Arrangement::kChannelsLast;
  return dnnl_layout(plain(sizes, shape),
                     plain(gapless_strides(sizes, channels_last), shape), type);
}

WeightLayout weight_layout(const Volume& volume,
                           const ConvolutionShape& shape) {
  Quintuple sizes = volume.sizes;
  Quintuple strides = tidy_strides(volume, false);
  sizes[0] /= shape.groups;
  const std::int64_t group = tensor::outer_stride(strides[0], sizes[0]);
  if (shape.transposed) {
    std::swap(sizes[0], sizes[1]);
    std::swap(strides[0], strides[1]);
  }
  WeightLayout out{plain(sizes, shape), plain(strides, shape)};
  if (shape.groups > 1) {
    out.sizes.insert(out.sizes.begin(), shape.groups);
    out.strides.insert(out.strides.begin(), group);
  }
  return out;
}

std::vector<Arrangement> arrangements(const ConvolutionShape& s,
                                      bool channels_last) {
  if (channels_last) return {Arrangement::kChannelsLast, Arrangement::kAny};
  constexpr std::int64_t kHalfBlock = 8;
  const bool pointwise = s.kernel == Triple{1, 1, 1} && s.groups == 1;
  if (pointwise && !s.transposed)
    return {Arrangement::kRowMajor, Arrangement::kAny};
  const std::int64_t shared =
      s.groups == s.in_channels && s.groups == s.out_channels ? 1 : s.groups;
  if (base::CpuFeatures::of_this_machine().avx512 &&
      std::min(s.in_channels, s.out_channels) / shared >= kHalfBlock)
    return {Arrangement::kBlocks, Arrangement::kAny};
  return {Arrangement::kAny};
}

}  // namespace berth::shim
