#include "shim/ops/plain_convolution.h"

#include <algorithm>
#include <type_traits>

namespace berth::shim {
namespace {

// What T is summed in: for integers unsigned, because there wrapping around is
// defined, and at least 32 bits, because narrower ones become int in C++.
template <typename T>
using Sum = std::conditional_t<
    std::is_floating_point_v<T>, T,
    std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>;

// A convolution walks over the elements of its output, each of which meets
// some of the input; a transposed one walks over those of its input. The side
// that is walked over is `near`, the other `far`, where each step is a stride.

// The near elements of a dimension that meet the far side at all.
struct Span {
  std::int64_t begin;
  std::int64_t end;
};

Span met(std::int64_t near, std::int64_t far, std::int64_t offset,
         std::int64_t stride) noexcept {
  const std::int64_t begin =
      offset >= 0 ? 0 : -offset / stride + (-offset % stride != 0 ? 1 : 0);
  const std::int64_t left = far - 1 - offset;
  const std::int64_t end = left < 0 ? 0 : std::min(near, left / stride + 1);
  return {std::min(begin, end), end};
}

// One row of products: to[i * to_step] += weight * from[i * from_step].
template <typename T>
void add_row(const T* from, std::int64_t from_step, T weight, T* to,
             std::int64_t to_step, std::int64_t count) noexcept {
  const auto add = [weight](T& sum, T value) {
    sum = static_cast<T>(static_cast<Sum<T>>(sum) +
                         static_cast<Sum<T>>(weight) *
                             static_cast<Sum<T>>(value));
  };
  if (from_step == 1 && to_step == 1) {
    for (std::int64_t i = 0; i < count; ++i) add(to[i], from[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i)
      add(to[i * to_step], from[i * from_step]);
  }
}

// Adds what one element of the weight, `at` in the kernel, gives to the plane
// `to` from the plane `from`.
template <typename T>
void add_plane(const PlainConvolution<T>& c, const Triple& at, T weight,
               const T* from, T* to) noexcept {
  const ConvolutionShape& s = *c.shape;
  const Triple& near = s.transposed ? s.input : s.output;
  const Triple& far = s.transposed ? s.output : s.input;
  Triple offset{};
  std::array<Span, 3> span{};
  for (std::size_t i = 0; i < 3; ++i) {
    offset[i] = at[i] * s.dilation[i] - s.padding[i];
    span[i] = met(near[i], far[i], offset[i], s.stride[i]);
  }
  const auto& in = c.input_at.strides;
  const auto& out = c.output_at.strides;
  // Where, in the input and in the output, the near element `i` works.
  const auto input_place = [&](std::size_t d, std::int64_t i) {
    return (s.transposed ? i : i * s.stride[d] + offset[d]) * in[d + 2];
  };
  const auto output_place = [&](std::size_t d, std::int64_t i) {
    return (s.transposed ? i * s.stride[d] + offset[d] : i) * out[d + 2];
  };
  const std::int64_t count = span[2].end - span[2].begin;
  if (count <= 0) return;
  const std::int64_t input_step = s.transposed ? in[4] : in[4] * s.stride[2];
  const std::int64_t output_step = s.transposed ? out[4] * s.stride[2] : out[4];
  for (std::int64_t z = span[0].begin; z < span[0].end; ++z) {
    for (std::int64_t y = span[1].begin; y < span[1].end; ++y) {
      add_row(from + input_place(0, z) + input_place(1, y) +
                  input_place(2, span[2].begin),
              input_step, weight,
              to + output_place(0, z) + output_place(1, y) +
                  output_place(2, span[2].begin),
              output_step, count);
    }
  }
}

template <typename T>
void fill(const PlainConvolution<T>& c, T value, T* to) noexcept {
  const ConvolutionShape& s = *c.shape;
  const auto& step = c.output_at.strides;
  for (std::int64_t z = 0; z < s.output[0]; ++z)
    for (std::int64_t y = 0; y < s.output[1]; ++y)
      for (std::int64_t x = 0; x < s.output[2]; ++x)
        to[z * step[2] + y * step[3] + x * step[4]] = value;
}

// One channel of one output, from the channels of its group.
template <typename T>
void make_channel(const PlainConvolution<T>& c, std::int64_t batch,
                  std::int64_t channel) noexcept {
  const ConvolutionShape& s = *c.shape;
  const std::int64_t out_each = s.out_channels / s.groups;
  const std::int64_t in_each = s.in_channels / s.groups;
  const std::int64_t group = channel / out_each;
  const auto& step = c.weight_at.strides;
  T* const to = c.output + batch * c.output_at.strides[0] +
                channel * c.output_at.strides[1];
  fill(c, c.bias == nullptr ? T{0} : c.bias[channel * c.bias_stride], to);
  for (std::int64_t i = 0; i < in_each; ++i) {
    const std::int64_t source = group * in_each + i;
    const T* const from = c.input + batch * c.input_at.strides[0] +
                          source * c.input_at.strides[1];
    const T* const weight =
        s.transposed
            ? c.weight + source * step[0] + channel % out_each * step[1]
            : c.weight + channel * step[0] + i * step[1];
    Triple at{};
    for (at[0] = 0; at[0] < s.kernel[0]; ++at[0])
      for (at[1] = 0; at[1] < s.kernel[1]; ++at[1])
        for (at[2] = 0; at[2] < s.kernel[2]; ++at[2])
          add_plane(c, at,
                    weight[at[0] * step[2] + at[1] * step[3] + at[2] * step[4]],
                    from, to);
  }
}

template <typename T>
void convolve_plainly(const PlainConvolution<T>& c) noexcept {
  for (std::int64_t n = 0; n < c.shape->batch; ++n)
    for (std::int64_t k = 0; k < c.shape->out_channels; ++k)
      make_channel(c, n, k);
}

}  // namespace

void convolve(const PlainConvolution<float>& c) noexcept {
  convolve_plainly(c);
}
void convolve(const PlainConvolution<double>& c) noexcept {
  convolve_plainly(c);
}
void convolve(const PlainConvolution<std::uint8_t>& c) noexcept {
  convolve_plainly(c);
}
void convolve(const PlainConvolution<std::int8_t>& c) noexcept {
  convolve_plainly(c);
}
void convolve(const PlainConvolution<std::int16_t>& c) noexcept {
  convolve_plainly(c);
}
void convolve(const PlainConvolution<std::int32_t>& c) noexcept {
  convolve_plainly(c);
}
void convolve(const PlainConvolution<std::int64_t>& c) noexcept {
  convolve_plainly(c);
}

}  // namespace berth::shim
