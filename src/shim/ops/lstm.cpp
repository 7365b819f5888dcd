#include "shim/ops/lstm.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/checked.h"
#include "shim/functions.h"
#include "shim/ops/arguments.h"
#include "shim/ops/dnnl_lstm.h"
#include "shim/ops/floats.h"
#include "shim/trap.h"
#include "tensor/layout.h"

namespace berth::shim {
namespace {

using tensor::Extents;
using tensor::to_text;

constexpr std::int64_t kGates = 4;

Status check_sizes(std::string_view name, const Tensor& tensor,
                   Extents expected) {
  if (std::ranges::equal(tensor.sizes(), expected)) return ok();
  return fail(Code::kInvalidArgument, "expected the ", name,
              " of an LSTM to have sizes ", to_text(expected), ", found ",
              to_text(tensor.sizes()));
}

Status check_state(std::string_view name, const Tensor& tensor,
                   const LstmShape& s) {
  const std::array<std::int64_t, 3> all{1, s.batch, s.hidden};
  if (tensor.dim() == 2) return check_sizes(name, tensor, Extents(all).last(2));
  return check_sizes(name, tensor, all);
}

Status check_dtypes(const LstmCall& call) {
  for (const Tensor* other :
       {call.input_weight, call.hidden_weight, call.input_bias,
        call.hidden_bias, call.hidden, call.cell}) {
    if (other != nullptr && other->dtype() != call.input->dtype())
      return fail(Code::kInvalidArgument, "expected all tensors of an LSTM of ",
                  to_string(call.input->dtype()), " like its input, found ",
                  to_string(other->dtype()));
  }
  const DType dtype = call.input->dtype();
  if (dtype == DType::kFloat32 || dtype == DType::kFloat16 ||
      dtype == DType::kBFloat16)
    return ok();
  return fail(Code::kUnsupported, "an LSTM of ", to_string(dtype),
              " is not served");
}

Result<LstmShape> check(const LstmCall& call) {
  BERTH_CHECK(check_dtypes(call));
  const Extents input = call.input->sizes();
  if (input.size() != 3)
    return fail(Code::kInvalidArgument,
                "expected the input of an LSTM to have 3 dimensions, found "
                "sizes ",
                to_text(input));
  const LstmShape s{input[0], input[1], input[2], call.hidden_size,
                    call.reverse};
  const auto gates = base::product(kGates, s.hidden);
  if (s.hidden < 1 || !gates)
    return fail(Code::kInvalidArgument,
                "expected the hidden size of an LSTM to be at least 1, found ",
                s.hidden);
  BERTH_CHECK(check_sizes("input weight", *call.input_weight,
                          std::array{*gates, s.features}));
  BERTH_CHECK(check_sizes("hidden weight", *call.hidden_weight,
                          std::array{*gates, s.hidden}));
  for (const Tensor* bias : {call.input_bias, call.hidden_bias})
    if (bias != nullptr)
      BERTH_CHECK(check_sizes("bias", *bias, std::array{*gates}));
  BERTH_CHECK(check_state("hidden state", *call.hidden, s));
  BERTH_CHECK(check_state("cell state", *call.cell, s));
  return s;
}

// Row-major, in float.
Result<Tensor> floats(const Tensor& tensor) {
  if (tensor.is_contiguous()) return widened(tensor);
  BERTH_TRY(const Tensor rows, tensor.clone());
  return widened(rows);
}

// oneDNN adds one bias where torch has two.
Result<Tensor> summed_bias(const LstmCall& call) {
  const std::int64_t count = call.input_weight->sizes()[0];
  BERTH_TRY(Tensor sum, Tensor::empty(Extents(&count, 1), DType::kFloat32));
  auto* const to = static_cast<float*>(sum.data());
  std::fill_n(to, count, 0.0f);
  for (const Tensor* each : {call.input_bias, call.hidden_bias}) {
    if (each == nullptr) continue;
    BERTH_TRY(const Tensor bias, floats(*each));
    const auto* const from = static_cast<const float*>(bias.data());
    std::transform(from, from + count, to, to, std::plus<>());
  }
  return sum;
}

// Memory in float for a result that is of another dtype, or the result itself.
Result<Tensor> wide_place(const Tensor& result) {
  if (result.dtype() == DType::kFloat32) return result;
  return Tensor::empty(result.sizes(), DType::kFloat32);
}

Status run(const LstmCall& call, const LstmShape& shape,
           const LstmResult& result) {
  BERTH_TRY(const Tensor input, floats(*call.input));
  BERTH_TRY(const Tensor input_weight, floats(*call.input_weight));
  BERTH_TRY(const Tensor hidden_weight, floats(*call.hidden_weight));
  BERTH_TRY(const Tensor bias, summed_bias(call));
  BERTH_TRY(const Tensor hidden, floats(*call.hidden));
  BERTH_TRY(const Tensor cell, floats(*call.cell));
  BERTH_TRY(const Tensor output, wide_place(result.output));
  BERTH_TRY(const Tensor last_hidden, wide_place(result.hidden));
  BERTH_TRY(const Tensor last_cell, wide_place(result.cell));
  const auto data = [](const Tensor& tensor) {
    return static_cast<float*>(tensor.data());
  };
  BERTH_CHECK(
      lstm_in_dnnl({shape, data(input), data(input_weight), data(hidden_weight),
                    data(bias), data(hidden), data(cell), data(output),
                    data(last_hidden), data(last_cell)}));
  BERTH_CHECK(narrow(output, result.output));
  BERTH_CHECK(narrow(last_hidden, result.hidden));
  return narrow(last_cell, result.cell);
}

}  // namespace

Result<LstmResult> lstm(const LstmCall& call) {
  BERTH_TRY(const LstmShape shape, check(call));
  const DType dtype = call.input->dtype();
  LstmResult result;
  BERTH_TRY(
      result.output,
      Tensor::empty(std::array{shape.steps, shape.batch, shape.hidden}, dtype));
  BERTH_TRY(result.hidden, Tensor::empty(call.hidden->sizes(), dtype));
  BERTH_TRY(result.cell, Tensor::empty(call.cell->sizes(), dtype));
  if (result.output.numel() > 0) {
    BERTH_CHECK(run(call, shape, result));
    return result;
  }
  // No step changes the state.
  BERTH_CHECK(result.hidden.copy_from(*call.hidden));
  BERTH_CHECK(result.cell.copy_from(*call.cell));
  return result;
}

}  // namespace berth::shim

namespace {

using berth::Code;
using berth::fail;
using berth::ok;
using berth::Result;
using berth::Status;
using berth::Tensor;
using berth::shim::borrow;
using berth::shim::LstmCall;
using berth::shim::LstmResult;
using berth::shim::trap;

// torch's number for LSTM among its kinds of layers.
constexpr std::int64_t kLstm = 2;

Status check_kind(std::int64_t mode, std::int64_t batch_sizes_len) {
  if (mode != kLstm)
    return fail(Code::kUnsupported, "recurrent layers of mode ", mode,
                " are not served, only LSTM (", kLstm, ")");
  if (batch_sizes_len != 0)
    return fail(Code::kUnsupported, "an LSTM over packed sequences (",
                batch_sizes_len, " batch sizes) is not served");
  return ok();
}

Result<const Tensor*> borrow_const(AtenTensorHandle handle) {
  BERTH_TRY(const Tensor* tensor, borrow(handle));
  return tensor;
}

}  // namespace

// torch calls it once for each layer and direction, with numbers that tell of
// all of them and are of no use here. The fourth result is for training.
std::int32_t aoti_berth_cpu_mkldnn_rnn_layer(
    AtenTensorHandle input, AtenTensorHandle weight0, AtenTensorHandle weight1,
    AtenTensorHandle weight2, AtenTensorHandle weight3, AtenTensorHandle hx,
    AtenTensorHandle cx, std::int32_t reverse, const std::int64_t*,
    std::int64_t batch_sizes_len, std::int64_t mode, std::int64_t hidden_size,
    std::int64_t, std::int32_t has_biases, std::int32_t, std::int32_t,
    std::int32_t, AtenTensorHandle* output, AtenTensorHandle* hy,
    AtenTensorHandle* cy, AtenTensorHandle* workspace) {
  return trap(__func__, [&]() -> Status {
    BERTH_CHECK(check_kind(mode, batch_sizes_len));
    LstmCall call;
    BERTH_TRY(call.input, borrow_const(input));
    BERTH_TRY(call.input_weight, borrow_const(weight0));
    BERTH_TRY(call.hidden_weight, borrow_const(weight1));
    if (has_biases != 0) {
      BERTH_TRY(call.input_bias, borrow_const(weight2));
      BERTH_TRY(call.hidden_bias, borrow_const(weight3));
    }
    BERTH_TRY(call.hidden, borrow_const(hx));
    BERTH_TRY(call.cell, borrow_const(cx));
    call.hidden_size = hidden_size;
    call.reverse = reverse != 0;
    BERTH_TRY(LstmResult result, berth::shim::lstm(call));
    return berth::shim::give_all<4>(
        {std::move(result.output), std::move(result.hidden),
         std::move(result.cell), Tensor()},
        {output, hy, cy, workspace});
  });
}
