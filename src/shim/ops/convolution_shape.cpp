#include "shim/ops/convolution_shape.h"

#include <algorithm>
#include <string_view>

#include "base/checked.h"

namespace berth::shim {
namespace {

using tensor::Extents;
using tensor::to_text;

// One number a dimension of space, or one for all of them.
Status expand(std::string_view name, Extents values, std::int64_t least,
              const ConvolutionShape& shape, Triple& out) {
  if (values.size() != 1 && values.size() != shape.given)
    return fail(Code::kInvalidArgument, "expected one ", name,
                " for a convolution, or ", shape.given, ", found ",
                to_text(values));
  if (std::ranges::any_of(values, [&](auto value) { return value < least; }))
    return fail(Code::kInvalidArgument, "expected the ", name,
                " of a convolution to be at least ", least, ", found ",
                to_text(values));
  for (std::size_t i = 0; i < shape.given; ++i)
    out[3 - shape.given + i] = values.size() == 1 ? values[0] : values[i];
  return ok();
}

Status check_dtypes(const ConvolutionCall& call) {
  for (const Tensor* other : {call.weight, call.bias}) {
    if (other != nullptr && other->dtype() != call.input->dtype())
      return fail(Code::kInvalidArgument, "expected a ",
                  other == call.bias ? "bias" : "weight", " of ",
                  to_string(call.input->dtype()), " like the input of a ",
                  "convolution, found ", to_string(other->dtype()));
  }
  return ok();
}

Status check_ranks(const ConvolutionCall& call, ConvolutionShape& shape) {
  const std::size_t rank = call.weight->sizes().size();
  if (rank < 3 || rank > 5)
    return fail(Code::kInvalidArgument,
                "expected the weight of a convolution to have 3 to 5 "
                "dimensions, found sizes ",
                to_text(call.weight->sizes()));
  shape.given = rank - 2;
  shape.dims = std::max<std::size_t>(shape.given, 2);
  const std::size_t found = call.input->sizes().size();
  if (found != rank && found != rank - 1)
    return fail(Code::kInvalidArgument, "expected an input of ", rank,
                " dimensions (", rank - 1, " without a batch) for a weight of ",
                to_text(call.weight->sizes()), ", found sizes ",
                to_text(call.input->sizes()));
  shape.batched = found == rank;
  return ok();
}

Status check_channels(const ConvolutionCall& call, ConvolutionShape& shape) {
  const Extents input = call.input->sizes();
  const Extents weight = call.weight->sizes();
  shape.transposed = call.transposed;
  shape.groups = call.groups;
  shape.batch = shape.batched ? input[0] : 1;
  shape.in_channels = input[shape.batched ? 1 : 0];
  if (call.groups < 1)
    return fail(Code::kInvalidArgument,
                "expected the groups of a convolution to be at least 1, found ",
                call.groups);
  const auto grouped = base::product(weight[1], call.groups);
  const std::int64_t wanted =
      call.transposed ? weight[0] : grouped.value_or(-1);
  shape.out_channels = call.transposed ? grouped.value_or(-1) : weight[0];
  if (!grouped || weight[0] < 1 || weight[0] % call.groups != 0 ||
      shape.in_channels != wanted || (call.transposed && weight[1] < 1))
    return fail(Code::kInvalidArgument, "an input of sizes ", to_text(input),
                " and a weight of sizes ", to_text(weight), " in ", call.groups,
                " groups do not make a ", call.transposed ? "transposed " : "",
                "convolution");
  const std::int64_t bias = shape.out_channels;
  if (call.bias != nullptr &&
      !std::ranges::equal(call.bias->sizes(), Extents(&bias, 1)))
    return fail(Code::kInvalidArgument,
                "expected the bias of a convolution to have sizes ",
                to_text(Extents(&bias, 1)), ", found ",
                to_text(call.bias->sizes()));
  // What torch makes of it: the channels of a sum over none.
  if (shape.in_channels == 0) shape.out_channels = 0;
  return ok();
}

// a * b + c * d, where nothing may wrap.
std::optional<std::int64_t> sum_of_products(std::int64_t a, std::int64_t b,
                                            std::int64_t c, std::int64_t d) {
  const auto first = base::product(a, b);
  const auto second = base::product(c, d);
  if (!first || !second) return std::nullopt;
  return base::sum(*first, *second);
}

// The size of the result in the dimension `i`; nothing when it does not fit.
std::optional<std::int64_t> output_size(const ConvolutionShape& s,
                                        std::size_t i) {
  // What the kernel covers beyond its first element, less the padding.
  const auto reach =
      sum_of_products(s.dilation[i], s.kernel[i] - 1, s.padding[i], -2);
  if (!reach) return std::nullopt;
  if (!s.transposed) {
    const auto room = base::sum(s.input[i] - 1, -*reach);
    if (!room || *room < 0) return std::nullopt;
    return *room / s.stride[i] + 1;
  }
  const auto spread =
      sum_of_products(s.input[i] - 1, s.stride[i], s.output_padding[i] + 1, 1);
  if (!spread) return std::nullopt;
  return base::sum(*spread, *reach);
}

Status measure(const ConvolutionCall& call, ConvolutionShape& s) {
  const Extents input = call.input->sizes().last(s.given);
  const Extents weight = call.weight->sizes().last(s.given);
  std::ranges::copy(input, s.input.end() - s.given);
  std::ranges::copy(weight, s.kernel.end() - s.given);
  if (std::ranges::count(weight, 0) > 0 || std::ranges::count(input, 0) > 0)
    return fail(Code::kInvalidArgument, "a convolution of sizes ",
                to_text(call.input->sizes()), " with a weight of sizes ",
                to_text(call.weight->sizes()), " is over an empty space");
  for (std::size_t i = 3 - s.given; i < 3; ++i) {
    if (s.transposed &&
        s.output_padding[i] >= std::max(s.stride[i], s.dilation[i]))
      return fail(Code::kInvalidArgument,
                  "expected an output padding below the stride ",
                  to_text(call.stride), " or the dilation ",
                  to_text(call.dilation),
                  " of a transposed convolution, "
                  "found ",
                  to_text(call.output_padding));
    const auto size = output_size(s, i);
    if (!size || *size < 0)
      return fail(Code::kInvalidArgument, "a kernel of sizes ", to_text(weight),
                  " with padding ", to_text(call.padding), " and dilation ",
                  to_text(call.dilation), " does not fit an input of sizes ",
                  to_text(input));
    s.output[i] = *size;
    // One element cannot be spread out. oneDNN need not know of the attempt,
    // at which the one in torch 2.13 crashes.
    if (s.kernel[i] == 1) s.dilation[i] = 1;
  }
  return ok();
}

}  // namespace

Result<ConvolutionShape> check_convolution(const ConvolutionCall& call) {
  ConvolutionShape shape;
  BERTH_CHECK(check_dtypes(call));
  BERTH_CHECK(check_ranks(call, shape));
  BERTH_CHECK(expand("stride", call.stride, 1, shape, shape.stride));
  BERTH_CHECK(expand("padding", call.padding, 0, shape, shape.padding));
  BERTH_CHECK(expand("dilation", call.dilation, 1, shape, shape.dilation));
  BERTH_CHECK(expand("output padding", call.output_padding, 0, shape,
                     shape.output_padding));
  BERTH_CHECK(check_channels(call, shape));
  BERTH_CHECK(measure(call, shape));
  return shape;
}

Volume volume_of(const Tensor& tensor, const ConvolutionShape& shape) {
  const Extents sizes = tensor.sizes();
  const Extents strides = tensor.strides();
  Volume out;
  // From the right: the dimensions of space, then the others.
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t from = sizes.size() - 1 - i;
    const std::size_t to = i < shape.given ? 4 - i : 1 - (i - shape.given);
    out.sizes[to] = sizes[from];
    out.strides[to] = strides[from];
  }
  // Added dimensions lie around those inside them, as torch's unsqueeze does.
  for (std::size_t i = 4 - shape.given; i >= 2; --i)
    out.strides[i] = tensor::outer_stride(out.strides[i + 1], out.sizes[i + 1]);
  if (sizes.size() == shape.given + 1)
    out.strides[0] = tensor::outer_stride(out.strides[1], out.sizes[1]);
  return out;
}

}  // namespace berth::shim
