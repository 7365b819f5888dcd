#include "shim/ops/dnnl_convolution.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "shim/ops/channels_last.h"
#include "shim/ops/convolution_layout.h"
#include "shim/ops/dnnl_primitive.h"
#include "shim/ops/recent.h"
#include "shim/ops/scratch.h"

namespace berth::shim {
namespace {

// As many as the convolutions of a few large models.
constexpr std::size_t kMostPlans = 512;

// Everything that determines a plan.
struct Key {
  ConvolutionShape shape;
  Quintuple input_strides;
  Quintuple weight_strides;
  bool channels_last;
  bool bias;
  int threads;

  bool operator==(const Key&) const = default;
};

struct Hash {
  std::size_t operator()(const Key& key) const noexcept {
    std::uint64_t hash = 0;
    const auto mix = [&hash](std::int64_t value) {
      hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 29;
    };
    const ConvolutionShape& s = key.shape;
    for (const Triple& each :
         {s.input, s.kernel, s.stride, s.padding, s.dilation, s.output_padding})
      std::ranges::for_each(each, mix);
    std::ranges::for_each(key.input_strides, mix);
    std::ranges::for_each(key.weight_strides, mix);
    for (const std::int64_t each :
         {s.batch, s.groups, s.in_channels, s.out_channels})
      mix(each);
    mix(key.threads * 8 + s.transposed * 4 + key.channels_last * 2 + key.bias);
    return hash;
  }
};

// Owns     the primitives of one convolution.
// Threads  run() on any, at once.
class Plan {
 public:
  static Result<Plan> make(const FloatConvolution& c);
  Status run(const FloatConvolution& c) const;

 private:
  // An argument in the caller's layout and in the primitive's; `reorder`
  // copies between them where they differ.
  struct Side {
    dnnl_memory_desc_t outside;
    dnnl_memory_desc_t inside;
    std::optional<DnnlPrimitive> reorder;
    std::int64_t bytes = 0;
  };

  explicit Plan(DnnlPrimitive&& work) : work_(std::move(work)) {}
  Status settle(Side& side, dnnl_query_t what, bool into) const;

  DnnlPrimitive work_;
  Side input_;
  Side weight_;
  Side output_;
  dnnl_memory_desc_t bias_;
};

Result<dnnl_memory_desc_t> bias_layout(const ConvolutionShape& shape) {
  const std::int64_t step = 1;
  return dnnl_layout({&shape.out_channels, 1}, {&step, 1});
}

// Does the work on these layouts of input and output.
Result<DnnlPrimitive> describe(const FloatConvolution& c,
                               const dnnl_memory_desc_t& source,
                               const dnnl_memory_desc_t& target) {
  const ConvolutionShape& s = *c.shape;
  BERTH_TRY(const Dnnl* const dnnl, find_dnnl());
  BERTH_TRY(
      const dnnl_memory_desc_t weight,
      dnnl_layout(weight_layout(c.weight_at, s).sizes, dnnl_format_tag_any));
  BERTH_TRY(const dnnl_memory_desc_t bias, bias_layout(s));
  Numbers dilation = spatial_numbers(s.dilation, s);
  for (std::int64_t& each : dilation) --each;
  Numbers right = spatial_numbers(s.padding, s);
  const Numbers extra = spatial_numbers(s.output_padding, s);
  for (std::size_t i = 0; s.transposed && i < right.size(); ++i)
    right[i] -= extra[i];
  const auto make = [&](auto init, auto&& operation) -> Result<DnnlPrimitive> {
    const dnnl_status_t status =
        init(&operation, dnnl_forward_inference,
             s.transposed ? dnnl_deconvolution_direct : dnnl_convolution_direct,
             &source, &weight, c.bias == nullptr ? nullptr : &bias, &target,
             spatial_numbers(s.stride, s).data(), dilation.data(),
             spatial_numbers(s.padding, s).data(), right.data());
    if (status != dnnl_success)
      return fail(Code::kUnsupported, "oneDNN describes no such convolution");
    return DnnlPrimitive::make(&operation);
  };
  return s.transposed ? make(dnnl->dilated_deconvolution_forward_desc_init,
                             dnnl_deconvolution_desc_t{})
                      : make(dnnl->dilated_convolution_forward_desc_init,
                             dnnl_convolution_desc_t{});
}

Result<DnnlPrimitive> fastest(const FloatConvolution& c) {
  for (const Arrangement how : arrangements(*c.shape, c.channels_last)) {
    BERTH_TRY(const dnnl_memory_desc_t source,
              image_layout(c.input_at.sizes, *c.shape, how));
    BERTH_TRY(const dnnl_memory_desc_t target,
              image_layout(c.shape->output_sizes(), *c.shape, how));
    Result<DnnlPrimitive> made = describe(c, source, target);
    if (made.has_value() ? !made->is_reference()
                         : made.error().code() != Code::kUnsupported)
      return made;
  }
  return fail(Code::kUnsupported, "oneDNN has only loops of last resort");
}

Status Plan::settle(Side& side, dnnl_query_t what, bool into) const {
  BERTH_TRY(const Dnnl* const dnnl, find_dnnl());
  side.inside = work_.layout(what);
  side.bytes =
      static_cast<std::int64_t>(dnnl->memory_desc_get_size(&side.inside));
  if (dnnl->memory_desc_equal(&side.outside, &side.inside) != 0) return ok();
  BERTH_TRY(DnnlPrimitive made,
            into ? DnnlPrimitive::reorder(side.outside, side.inside)
                 : DnnlPrimitive::reorder(side.inside, side.outside));
  side.reorder.emplace(std::move(made));
  return ok();
}

Result<Plan> Plan::make(const FloatConvolution& c) {
  const ConvolutionShape& s = *c.shape;
  const Volume result{s.output_sizes(),
                      gapless_strides(s.output_sizes(), c.channels_last)};
  BERTH_TRY(const dnnl_memory_desc_t output,
            image_layout(result, s, c.channels_last));
  BERTH_TRY(DnnlPrimitive work, fastest(c));
  Plan plan(std::move(work));
  BERTH_TRY(plan.input_.outside, image_layout(c.input_at, s, c.channels_last));
  const WeightLayout weight = weight_layout(c.weight_at, s);
  BERTH_TRY(plan.weight_.outside, dnnl_layout(weight.sizes, weight.strides));
  plan.output_.outside = output;
  BERTH_TRY(plan.bias_, bias_layout(s));
  BERTH_CHECK(plan.settle(plan.input_, dnnl_query_src_md, true));
  BERTH_CHECK(plan.settle(plan.weight_, dnnl_query_weights_md, true));
  BERTH_CHECK(plan.settle(plan.output_, dnnl_query_dst_md, false));
  return plan;
}

// oneDNN only reads what it gets as a source, but its arguments have one type.
void* readable(const float* data) { return const_cast<float*>(data); }

Status Plan::run(const FloatConvolution& c) const {
  const auto room = [](const Side& side) {
    return Scratch<std::byte>::of(side.reorder ? side.bytes : 0);
  };
  BERTH_TRY(const Scratch<std::byte> input, room(input_));
  BERTH_TRY(const Scratch<std::byte> weight, room(weight_));
  BERTH_TRY(const Scratch<std::byte> output, room(output_));
  DnnlArgument arguments[] = {
      {DNNL_ARG_SRC, &input_.inside, readable(c.input)},
      {DNNL_ARG_WEIGHTS, &weight_.inside, readable(c.weight)},
      {DNNL_ARG_DST, &output_.inside, c.output},
      {DNNL_ARG_BIAS, &bias_, readable(c.bias)}};
  const auto fetch = [](const Side& side, DnnlArgument& argument, void* to) {
    if (!side.reorder) return ok();
    const DnnlArgument copy[] = {{DNNL_ARG_FROM, &side.outside, argument.data},
                                 {DNNL_ARG_TO, &side.inside, to}};
    argument.data = to;
    return side.reorder->run(copy);
  };
  BERTH_CHECK(fetch(input_, arguments[0], input.data()));
  BERTH_CHECK(fetch(weight_, arguments[1], weight.data()));
  if (output_.reorder) arguments[2].data = output.data();
  BERTH_CHECK(work_.run(std::span(arguments).first(c.bias == nullptr ? 3 : 4)));
  if (!output_.reorder) return ok();
  const DnnlArgument copy[] = {{DNNL_ARG_FROM, &output_.inside, output.data()},
                               {DNNL_ARG_TO, &output_.outside, c.output}};
  return output_.reorder->run(copy);
}

// That oneDNN has none for a convolution is worth keeping, too.
using Kept = std::optional<Plan>;

// oneDNN counts many things in 32 bits.
bool counts_fit(const ConvolutionShape& s) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max() / 4;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t parts[] = {s.input[i],   s.output[i],   s.kernel[i],
                                  s.padding[i], s.dilation[i], s.stride[i]};
    if (std::ranges::any_of(parts, [](auto n) { return n > kMost; }))
      return false;
    if (s.dilation[i] * s.kernel[i] > kMost) return false;
  }
  return std::max({s.batch, s.in_channels, s.out_channels}) <= kMost;
}

}  // namespace

Status convolve_in_dnnl(const FloatConvolution& c) {
  if (!counts_fit(*c.shape))
    return fail(Code::kUnsupported, "oneDNN counts in 32 bits");
  // Never destroyed: a thread may still be at work when the process ends.
  static auto& plans = *new Recent<Key, Kept, Hash>(kMostPlans);
  const Key key{*c.shape,        c.input_at.strides, c.weight_at.strides,
                c.channels_last, c.bias != nullptr,  dnnl_threads()};
  std::shared_ptr<const Kept> kept = plans.find(key);
  if (kept == nullptr) {
    Result<Plan> made = Plan::make(c);
    if (!made.has_value() && made.error().code() != Code::kUnsupported)
      return tl::unexpected(std::move(made).error());
    kept = std::make_shared<const Kept>(
        made.has_value() ? Kept(std::move(*made)) : std::nullopt);
    plans.keep(key, kept);
  }
  if (!*kept) return fail(Code::kUnsupported, "oneDNN has no such convolution");
  return (*kept)->run(c);
}

}  // namespace berth::shim
