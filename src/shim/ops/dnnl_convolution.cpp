#include "shim/ops/dnnl_convolution.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "shim/ops/channels_last.h"
#include "shim/ops/convolution_layout.h"
#include "shim/ops/dnnl_primitive.h"
#include "shim/ops/dnnl_side.h"
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
  dnnl_data_type_t type;
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
    mix(key.type);
    mix(key.threads * 8 + s.transposed * 4 + key.channels_last * 2 + key.bias);
    return hash;
  }
};

// Owns     the primitives of one convolution.
// Threads  run() on any, at once.
class Plan {
 public:
  static Result<Plan> make(const DnnlConvolution& c);
  Status run(const DnnlConvolution& c) const;

 private:
  Plan(DnnlPrimitive&& work, DnnlSide&& input, DnnlSide&& weight,
       DnnlSide&& output) noexcept
      : work_(std::move(work)),
        input_(std::move(input)),
        weight_(std::move(weight)),
        output_(std::move(output)) {}

  DnnlPrimitive work_;
  DnnlSide input_;
  DnnlSide weight_;
  DnnlSide output_;
};

Result<dnnl_memory_desc_t> bias_layout(const DnnlConvolution& c) {
  const std::int64_t step = 1;
  return dnnl_layout({&c.shape->out_channels, 1}, {&step, 1}, c.type);
}

// Does the work on these layouts of input and output.
Result<DnnlPrimitive> describe(const DnnlConvolution& c,
                               const dnnl_memory_desc_t& source,
                               const dnnl_memory_desc_t& target) {
  const ConvolutionShape& s = *c.shape;
  BERTH_TRY(const Dnnl* const dnnl, find_dnnl());
  BERTH_TRY(const dnnl_memory_desc_t weight,
            dnnl_layout(weight_layout(c.weight_at, s).sizes,
                        dnnl_format_tag_any, c.type));
  BERTH_TRY(const dnnl_memory_desc_t bias, bias_layout(c));
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

Result<DnnlPrimitive> fastest(const DnnlConvolution& c) {
  for (const Arrangement how : arrangements(*c.shape, c.channels_last)) {
    BERTH_TRY(const dnnl_memory_desc_t source,
              image_layout(c.input_at.sizes, *c.shape, how, c.type));
    BERTH_TRY(const dnnl_memory_desc_t target,
              image_layout(c.shape->output_sizes(), *c.shape, how, c.type));
    Result<DnnlPrimitive> made = describe(c, source, target);
    if (made.has_value() ? !made->is_reference()
                         : made.error().code() != Code::kUnsupported)
      return made;
  }
  return fail(Code::kUnsupported, "oneDNN has only loops of last resort");
}

Result<Plan> Plan::make(const DnnlConvolution& c) {
  const ConvolutionShape& s = *c.shape;
  const Volume result{s.output_sizes(),
                      gapless_strides(s.output_sizes(), c.channels_last)};
  const WeightLayout weights = weight_layout(c.weight_at, s);
  BERTH_TRY(const dnnl_memory_desc_t input_at,
            image_layout(c.input_at, s, c.channels_last, c.type));
  BERTH_TRY(const dnnl_memory_desc_t weight_at,
            dnnl_layout(weights.sizes, weights.strides, c.type));
  BERTH_TRY(const dnnl_memory_desc_t output_at,
            image_layout(result, s, c.channels_last, c.type));
  BERTH_TRY(DnnlPrimitive work, fastest(c));
  BERTH_TRY(DnnlSide input, DnnlSide::read(work, DNNL_ARG_SRC, input_at));
  BERTH_TRY(DnnlSide weight, DnnlSide::read(work, DNNL_ARG_WEIGHTS, weight_at));
  BERTH_TRY(DnnlSide output, DnnlSide::written(work, DNNL_ARG_DST, output_at));
  return Plan(std::move(work), std::move(input), std::move(weight),
              std::move(output));
}

Status Plan::run(const DnnlConvolution& c) const {
  BERTH_TRY(const Scratch<std::byte> input, input_.room());
  BERTH_TRY(const Scratch<std::byte> weight, weight_.room());
  BERTH_TRY(const Scratch<std::byte> output, output_.room());
  BERTH_CHECK(input_.copy_in(c.input, input));
  BERTH_CHECK(weight_.copy_in(c.weight, weight));
  const DnnlArgument arguments[] = {
      input_.argument(c.input, input),
      weight_.argument(c.weight, weight),
      output_.argument(c.output, output),
      {DNNL_ARG_BIAS, &work_.layout(DNNL_ARG_BIAS), const_cast<void*>(c.bias)}};
  BERTH_CHECK(work_.run(std::span(arguments).first(c.bias == nullptr ? 3 : 4)));
  return output_.copy_out(output, c.output);
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

Status convolve_in_dnnl(const DnnlConvolution& c) {
  if (!counts_fit(*c.shape))
    return fail(Code::kUnsupported, "oneDNN counts in 32 bits");
  // Never destroyed: a thread may still be at work when the process ends.
  static auto& plans = *new Recent<Key, Kept, Hash>(kMostPlans);
  const Key key{*c.shape,        c.input_at.strides, c.weight_at.strides,
                c.channels_last, c.bias != nullptr,  c.type,
                dnnl_threads()};
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
