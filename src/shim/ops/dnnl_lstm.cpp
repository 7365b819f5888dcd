#include "shim/ops/dnnl_lstm.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "shim/ops/dnnl_primitive.h"
#include "shim/ops/dnnl_side.h"
#include "shim/ops/recent.h"
#include "shim/ops/scratch.h"
#include "tensor/layout.h"

namespace berth::shim {
namespace {

// Layers of a few large models, in a few lengths each.
constexpr std::size_t kMostPlans = 128;
constexpr std::int64_t kGates = 4;

struct Key {
  LstmShape shape;
  int threads;

  bool operator==(const Key&) const = default;
};

struct Hash {
  std::size_t operator()(const Key& key) const noexcept {
    std::uint64_t hash = static_cast<std::uint64_t>(key.threads);
    const LstmShape& s = key.shape;
    for (const std::int64_t each :
         {s.steps, s.batch, s.features, s.hidden, std::int64_t{s.reverse}}) {
      hash = (hash ^ static_cast<std::uint64_t>(each)) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

using Numbers = std::vector<std::int64_t>;

Result<dnnl_memory_desc_t> rows(const Numbers& sizes) {
  Numbers strides(sizes.size());
  tensor::contiguous_strides(sizes, strides.data());
  return dnnl_layout(sizes, strides);
}

// oneDNN names layers, directions, what goes in, gates, what comes out; torch
// has gates and what comes out in front.
Numbers weight_sizes(std::int64_t in, std::int64_t hidden) {
  return {1, 1, in, kGates, hidden};
}

Result<dnnl_memory_desc_t> weight_layout(std::int64_t in, std::int64_t hidden) {
  const std::int64_t all = kGates * hidden * in;
  return dnnl_layout(weight_sizes(in, hidden),
                     Numbers{all, all, 1, hidden * in, in});
}

Result<DnnlPrimitive> describe(const LstmShape& s) {
  BERTH_TRY(const Dnnl* const dnnl, find_dnnl());
  BERTH_TRY(const dnnl_memory_desc_t input,
            rows({s.steps, s.batch, s.features}));
  BERTH_TRY(const dnnl_memory_desc_t output,
            rows({s.steps, s.batch, s.hidden}));
  BERTH_TRY(const dnnl_memory_desc_t state, rows({1, 1, s.batch, s.hidden}));
  BERTH_TRY(const dnnl_memory_desc_t bias, rows({1, 1, kGates, s.hidden}));
  BERTH_TRY(
      const dnnl_memory_desc_t input_weight,
      dnnl_layout(weight_sizes(s.features, s.hidden), dnnl_format_tag_any));
  BERTH_TRY(const dnnl_memory_desc_t hidden_weight,
            dnnl_layout(weight_sizes(s.hidden, s.hidden), dnnl_format_tag_any));
  dnnl_rnn_desc_t operation;
  const dnnl_status_t status = dnnl->lstm_forward_desc_init(
      &operation, dnnl_forward_inference,
      s.reverse ? dnnl_unidirectional_right2left
                : dnnl_unidirectional_left2right,
      &input, &state, &state, &input_weight, &hidden_weight, &bias, &output,
      &state, &state, dnnl_rnn_flags_undef);
  if (status != dnnl_success)
    return fail(Code::kUnsupported, "oneDNN describes no such LSTM");
  return DnnlPrimitive::make(&operation);
}

// Owns     the primitives of one layer.
// Threads  run() on any, at once.
class Plan {
 public:
  static Result<Plan> make(const LstmShape& shape);
  Status run(const FloatLstm& layer) const;

 private:
  Plan(DnnlPrimitive&& work, DnnlSide&& input_weight,
       DnnlSide&& hidden_weight) noexcept
      : work_(std::move(work)),
        input_weight_(std::move(input_weight)),
        hidden_weight_(std::move(hidden_weight)) {}

  DnnlPrimitive work_;
  DnnlSide input_weight_;
  DnnlSide hidden_weight_;
};

Result<Plan> Plan::make(const LstmShape& s) {
  BERTH_TRY(DnnlPrimitive work, describe(s));
  BERTH_TRY(const dnnl_memory_desc_t input_at,
            weight_layout(s.features, s.hidden));
  BERTH_TRY(const dnnl_memory_desc_t hidden_at,
            weight_layout(s.hidden, s.hidden));
  BERTH_TRY(DnnlSide input,
            DnnlSide::read(work, DNNL_ARG_WEIGHTS_LAYER, input_at));
  BERTH_TRY(DnnlSide hidden,
            DnnlSide::read(work, DNNL_ARG_WEIGHTS_ITER, hidden_at));
  return Plan(std::move(work), std::move(input), std::move(hidden));
}

Status Plan::run(const FloatLstm& layer) const {
  BERTH_TRY(const Scratch<std::byte> input, input_weight_.room());
  BERTH_TRY(const Scratch<std::byte> hidden, hidden_weight_.room());
  BERTH_CHECK(input_weight_.copy_in(layer.input_weight, input));
  BERTH_CHECK(hidden_weight_.copy_in(layer.hidden_weight, hidden));
  const auto in_place = [&](int index, const float* data) {
    return DnnlArgument{index, &work_.layout(index), const_cast<float*>(data)};
  };
  const DnnlArgument arguments[] = {
      in_place(DNNL_ARG_SRC_LAYER, layer.input),
      in_place(DNNL_ARG_SRC_ITER, layer.hidden),
      in_place(DNNL_ARG_SRC_ITER_C, layer.cell),
      input_weight_.argument(layer.input_weight, input),
      hidden_weight_.argument(layer.hidden_weight, hidden),
      in_place(DNNL_ARG_BIAS, layer.bias),
      in_place(DNNL_ARG_DST_LAYER, layer.output),
      in_place(DNNL_ARG_DST_ITER, layer.last_hidden),
      in_place(DNNL_ARG_DST_ITER_C, layer.last_cell)};
  return work_.run(arguments);
}

// oneDNN counts many things in 32 bits.
bool counts_fit(const LstmShape& s) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max() / 16;
  return std::max({s.steps, s.batch, s.features, s.hidden}) <= kMost;
}

}  // namespace

Status lstm_in_dnnl(const FloatLstm& layer) {
  if (!counts_fit(layer.shape))
    return fail(Code::kUnsupported, "oneDNN counts in 32 bits");
  // Never destroyed: a thread may still be at work when the process ends.
  static auto& plans = *new Recent<Key, Plan, Hash>(kMostPlans);
  const Key key{layer.shape, dnnl_threads()};
  std::shared_ptr<const Plan> plan = plans.find(key);
  if (plan == nullptr) {
    BERTH_TRY(Plan made, Plan::make(layer.shape));
    plan = std::make_shared<const Plan>(std::move(made));
    plans.keep(key, plan);
  }
  return plan->run(layer);
}

}  // namespace berth::shim
