#include "shim/ops/channels_last.h"

#include <algorithm>

#include "base/cpu.h"

namespace berth::shim {
namespace {

using Order = std::array<std::size_t, 5>;

// Dimensions, innermost first.
constexpr Order kRowMajor{4, 3, 2, 1, 0};
constexpr Order kChannelsLast{1, 4, 3, 2, 0};

const Order& order_of(bool channels_last) noexcept {
  return channels_last ? kChannelsLast : kRowMajor;
}

// Whether torch takes these strides for those of channels that come last: they
// need only grow in that order, and what could be either counts as row-major.
// Images have no depth to look at.
bool looks_channels_last(const Volume& volume, std::size_t dims) noexcept {
  if (volume.strides[1] == 0) return false;
  std::int64_t least = 0;
  for (const std::size_t i : kChannelsLast) {
    if (i == 2 && dims == 2) continue;
    const std::int64_t size = volume.sizes[i];
    const std::int64_t stride = volume.strides[i];
    if (size == 0 || stride < least) return false;
    if (i == 0 && least == volume.strides[1]) return false;
    least = tensor::outer_stride(stride, size);
  }
  return true;
}

// As it is after torch has made it channels last, if it was not already.
Volume made_channels_last(const Volume& volume) noexcept {
  if (is_gapless(volume, true)) return volume;
  return {volume.sizes, gapless_strides(volume.sizes, true)};
}

// torch's choice between its oneDNN and loops of its own, which know channels
// last for images only. Its count of threads is part of that choice; the one
// that matters is that of the process which compiled the model, and so it is
// taken to be more than one.
bool torch_takes_dnnl(const ConvolutionShape& s, DType dtype) noexcept {
  for (std::size_t i = 0; i < 3; ++i)
    if (s.transposed && s.output_padding[i] >= s.stride[i]) return false;
  static const auto cpu = base::CpuFeatures::of_this_machine();
  if (dtype == DType::kBFloat16) return cpu.avx512 || cpu.avx_ne_convert;
  if (dtype == DType::kFloat16) return cpu.avx512_fp16 || cpu.avx_ne_convert;
  if (dtype != DType::kFloat32) return false;
  constexpr std::int64_t kFew = 20480;
  return s.groups > 1 || s.batch > 1 || (s.kernel[1] > 3 && s.kernel[2] > 3) ||
         s.in_channels * s.input[0] * s.input[1] > kFew;
}

}  // namespace

bool gives_channels_last(const ConvolutionShape& shape, const Volume& input,
                         const Volume& weight, DType dtype) noexcept {
  if (shape.batch == 0) return false;
  Volume first = input;
  // torch copies a line that is not row-major before it looks at it.
  if (shape.given == 1 && !is_gapless(input, false))
    first.strides = gapless_strides(input.sizes, false);
  const std::size_t dims = shape.dims;
  if (!looks_channels_last(first, dims) && !looks_channels_last(weight, dims))
    return false;
  if (dims == 3 && !torch_takes_dnnl(shape, dtype)) return false;
  // It looks again after it has made both channels last, and where size 1
  // leaves a choice, that may now look row-major.
  return looks_channels_last(made_channels_last(first), dims) ||
         looks_channels_last(made_channels_last(weight), dims);
}

Quintuple gapless_strides(const Quintuple& sizes, bool channels_last) noexcept {
  Quintuple strides{};
  std::int64_t stride = 1;
  for (const std::size_t i : order_of(channels_last)) {
    strides[i] = stride;
    stride = tensor::outer_stride(stride, sizes[i]);
  }
  return strides;
}

bool is_gapless(const Volume& volume, bool channels_last) noexcept {
  std::int64_t expected = 1;
  for (const std::size_t i : order_of(channels_last)) {
    if (volume.sizes[i] == 1) continue;
    if (volume.strides[i] != expected) return false;
    expected = tensor::outer_stride(expected, volume.sizes[i]);
  }
  return true;
}

}  // namespace berth::shim
