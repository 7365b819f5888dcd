#include "shim/ops/dnnl_convolution.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "shim/ops/channels_last.h"
#include "shim/ops/dnnl_primitive.h"
#include "shim/ops/recent.h"
#include "shim/ops/scratch.h"

namespace berth::shim {
namespace {

// As many as the convolutions of a few large models.
constexpr std::size_t kMostPlans = 512;

using Numbers = std::vector<std::int64_t>;

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

// The numbers of a triple that oneDNN wants to see.
Numbers spatial(const Triple& values, const ConvolutionShape& shape) {
  return {values.end() - shape.dims, values.end()};
}

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

Result<dnnl_memory_desc_t> layout_of(const Volume& volume,
                                     const FloatConvolution& c) {
  return dnnl_layout(plain(volume.sizes, *c.shape),
                     plain(tidy_strides(volume, c.channels_last), *c.shape));
}

// oneDNN names the groups, then the channels that come out, then those that go
// in; torch joins the groups to the first, which in a transposed convolution
// are those that go in.
struct Weight {
  Numbers sizes;
  Numbers strides;
};

Weight weight_of(const Volume& volume, const ConvolutionShape& shape) {
  Quintuple sizes = volume.sizes;
  Quintuple strides = tidy_strides(volume, false);
  sizes[0] /= shape.groups;
  const std::int64_t group = tensor::outer_stride(strides[0], sizes[0]);
  if (shape.transposed) {
    std::swap(sizes[0], sizes[1]);
    std::swap(strides[0], strides[1]);
  }
  Weight out{plain(sizes, shape), plain(strides, shape)};
  if (shape.groups > 1) {
    out.sizes.insert(out.sizes.begin(), shape.groups);
    out.strides.insert(out.strides.begin(), group);
  }
  return out;
}

// Owns     the primitives of one convolution.
// Threads  run() on any, at once.
class Plan {
 public:
  static Result<std::shared_ptr<const Plan>> make(const FloatConvolution& c);
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
  static Result<DnnlPrimitive> primitive(const FloatConvolution& c,
                                         const dnnl_memory_desc_t& output);
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

Result<DnnlPrimitive> Plan::primitive(const FloatConvolution& c,
                                      const dnnl_memory_desc_t& output) {
  const ConvolutionShape& s = *c.shape;
  BERTH_TRY(const Dnnl* const dnnl, find_dnnl());
  // Row-major images are slow to work on: oneDNN chooses blocks of channels.
  BERTH_TRY(dnnl_memory_desc_t source,
            dnnl_any_layout(plain(c.input_at.sizes, s)));
  BERTH_TRY(dnnl_memory_desc_t target,
            dnnl_any_layout(plain(s.output_sizes(), s)));
  if (c.channels_last) {
    const Volume last{c.input_at.sizes,
                      gapless_strides(c.input_at.sizes, true)};
    BERTH_TRY(source, layout_of(last, c));
    target = output;
  }
  BERTH_TRY(const dnnl_memory_desc_t weight,
            dnnl_any_layout(weight_of(c.weight_at, s).sizes));
  BERTH_TRY(const dnnl_memory_desc_t bias, bias_layout(s));
  Numbers dilation = spatial(s.dilation, s);
  for (std::int64_t& each : dilation) --each;
  Numbers right = spatial(s.padding, s);
  const Numbers extra = spatial(s.output_padding, s);
  for (std::size_t i = 0; s.transposed && i < right.size(); ++i)
    right[i] -= extra[i];
  const auto describe = [&](auto init, auto&& description) {
    init(&description, dnnl_forward_inference,
         s.transposed ? dnnl_deconvolution_direct : dnnl_convolution_direct,
         &source, &weight, c.bias == nullptr ? nullptr : &bias, &target,
         spatial(s.stride, s).data(), dilation.data(),
         spatial(s.padding, s).data(), right.data());
    return DnnlPrimitive::make(&description);
  };
  return s.transposed ? describe(dnnl->dilated_deconvolution_forward_desc_init,
                                 dnnl_deconvolution_desc_t{})
                      : describe(dnnl->dilated_convolution_forward_desc_init,
                                 dnnl_convolution_desc_t{});
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

Result<std::shared_ptr<const Plan>> Plan::make(const FloatConvolution& c) {
  const ConvolutionShape& s = *c.shape;
  const Volume result{s.output_sizes(),
                      gapless_strides(s.output_sizes(), c.channels_last)};
  BERTH_TRY(const dnnl_memory_desc_t output, layout_of(result, c));
  BERTH_TRY(DnnlPrimitive work, primitive(c, output));
  const std::shared_ptr<Plan> plan(new Plan(std::move(work)));
  BERTH_TRY(plan->input_.outside, layout_of(c.input_at, c));
  const Weight weight = weight_of(c.weight_at, s);
  BERTH_TRY(plan->weight_.outside, dnnl_layout(weight.sizes, weight.strides));
  plan->output_.outside = output;
  BERTH_TRY(plan->bias_, bias_layout(s));
  BERTH_CHECK(plan->settle(plan->input_, dnnl_query_src_md, true));
  BERTH_CHECK(plan->settle(plan->weight_, dnnl_query_weights_md, true));
  BERTH_CHECK(plan->settle(plan->output_, dnnl_query_dst_md, false));
  return std::shared_ptr<const Plan>(plan);
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
  static auto& plans = *new Recent<Key, Plan, Hash>(kMostPlans);
  const Key key{*c.shape,        c.input_at.strides, c.weight_at.strides,
                c.channels_last, c.bias != nullptr,  dnnl_threads()};
  std::shared_ptr<const Plan> plan = plans.find(key);
  if (plan == nullptr) {
    BERTH_TRY(plan, Plan::make(c));
    plans.keep(key, plan);
  }
  return plan->run(c);
}

}  // namespace berth::shim
