#include "shim/ops/convolution.h"

#include <algorithm>
#include <vector>

#include "base/cpu.h"
#include "shim/functions.h"
#include "shim/ops/arguments.h"
#include "shim/ops/channels_last.h"
#include "shim/ops/dnnl_convolution.h"
#include "shim/ops/floats.h"
#include "shim/ops/plain_convolution.h"
#include "shim/trap.h"
#include "tensor/layout.h"

namespace berth::shim {
namespace {

using tensor::Extents;

// A convolution whose arguments were checked, and where its result goes.
struct Job {
  const ConvolutionShape& shape;
  const Tensor& input;
  const Tensor& weight;
  const Tensor* bias;
  const Tensor& output;
  bool channels_last;
};

template <typename T>
const T* elements(const Tensor* tensor) {
  return tensor == nullptr ? nullptr : static_cast<const T*>(tensor->data());
}

// `tensor`, or a row-major copy: our loop runs along rows.
Result<Tensor> in_rows(const Tensor& tensor) {
  if (tensor.strides().back() == 1) return tensor;
  return tensor.clone();
}

template <typename T>
Status run_plainly(const Job& job) {
  BERTH_TRY(const Tensor input, in_rows(job.input));
  Tensor output = job.output;
  if (job.channels_last) {
    BERTH_TRY(output, Tensor::empty(output.sizes(), output.dtype()));
  }
  PlainConvolution<T> c;
  c.shape = &job.shape;
  c.input_at = volume_of(input, job.shape);
  c.weight_at = volume_of(job.weight, job.shape);
  c.output_at = volume_of(output, job.shape);
  c.input = elements<T>(&input);
  c.weight = elements<T>(&job.weight);
  c.bias = elements<T>(job.bias);
  if (job.bias != nullptr) c.bias_stride = job.bias->strides()[0];
  c.output = static_cast<T*>(output.data());
  convolve(c);
  if (!job.channels_last) return ok();
  Tensor result = job.output;
  return result.copy_from(output);
}

// True when no two elements are in one place: then oneDNN takes the strides.
bool is_injective(const Tensor& tensor) {
  std::vector<std::pair<std::int64_t, std::int64_t>> dims;
  for (std::size_t i = 0; i < tensor.sizes().size(); ++i)
    if (tensor.sizes()[i] > 1)
      dims.emplace_back(tensor.strides()[i], tensor.sizes()[i]);
  std::ranges::sort(dims);
  std::int64_t covered = 1;
  for (const auto& [stride, size] : dims) {
    if (stride < covered) return false;
    covered = tensor::outer_stride(stride, size);
  }
  return true;
}

// `tensor`, or a copy that is_injective().
Result<Tensor> spread(const Tensor& tensor) {
  if (is_injective(tensor)) return tensor;
  return tensor.clone();
}

Status run_in_dnnl(const Job& job, dnnl_data_type_t type) {
  BERTH_TRY(const Tensor input, spread(job.input));
  BERTH_TRY(const Tensor weight, spread(job.weight));
  Tensor bias;
  if (job.bias != nullptr) {
    bias = *job.bias;
    if (!bias.is_contiguous()) {
      BERTH_TRY(bias, bias.clone());
    }
  }
  DnnlConvolution c;
  c.shape = &job.shape;
  c.input_at = volume_of(input, job.shape);
  c.weight_at = volume_of(weight, job.shape);
  c.input = input.data();
  c.weight = weight.data();
  c.bias = job.bias == nullptr ? nullptr : bias.data();
  c.output = job.output.data();
  c.channels_last = job.channels_last;
  c.type = type;
  return convolve_in_dnnl(c);
}

bool is_unsupported(const Status& status) {
  return !status.has_value() && status.error().code() == Code::kUnsupported;
}

Status run_floats(const Job& job) {
  Status done = run_in_dnnl(job, dnnl_f32);
  return is_unsupported(done) ? run_plainly<float>(job) : done;
}

Status run_widened(const Job& job) {
  BERTH_TRY(const Tensor input, widened(job.input));
  BERTH_TRY(const Tensor weight, widened(job.weight));
  Tensor bias;
  if (job.bias != nullptr) {
    BERTH_TRY(bias, widened(*job.bias));
  }
  BERTH_TRY(const Tensor output,
            Tensor::empty_strided(job.output.sizes(), job.output.strides(),
                                  DType::kFloat32));
  BERTH_CHECK(run_floats({job.shape, input, weight,
                          job.bias == nullptr ? nullptr : &bias, output,
                          job.channels_last}));
  return narrow(output, job.output);
}

// Elsewhere oneDNN only imitates the instructions.
Status run_bfloat16(const Job& job) {
  static const bool native = base::CpuFeatures::of_this_machine().avx512_bf16;
  if (!native) return run_widened(job);
  Status done = run_in_dnnl(job, dnnl_bf16);
  return is_unsupported(done) ? run_widened(job) : done;
}

Status run(const Job& job) {
  switch (job.input.dtype()) {
    case DType::kFloat32:
      return run_floats(job);
    case DType::kFloat64:
      return run_plainly<double>(job);
    case DType::kFloat16:
      return run_widened(job);
    case DType::kBFloat16:
      return run_bfloat16(job);
    case DType::kUInt8:
      return run_plainly<std::uint8_t>(job);
    case DType::kInt8:
      return run_plainly<std::int8_t>(job);
    case DType::kInt16:
      return run_plainly<std::int16_t>(job);
    case DType::kInt32:
      return run_plainly<std::int32_t>(job);
    case DType::kInt64:
      return run_plainly<std::int64_t>(job);
    default:
      return fail(Code::kUnsupported, "a convolution of ",
                  to_string(job.input.dtype()), " is not served");
  }
}

// What the caller sees of the five numbers.
std::vector<std::int64_t> shown(const Quintuple& all,
                                const ConvolutionShape& shape) {
  std::vector<std::int64_t> out(all.begin() + (shape.batched ? 0 : 1),
                                all.begin() + 2);
  out.insert(out.end(), all.end() - shape.given, all.end());
  return out;
}

}  // namespace

Result<Tensor> convolution(const ConvolutionCall& call) {
  BERTH_TRY(const ConvolutionShape shape, check_convolution(call));
  const bool channels_last =
      gives_channels_last(shape, volume_of(*call.input, shape),
                          volume_of(*call.weight, shape), call.input->dtype());
  const Quintuple sizes = shape.output_sizes();
  BERTH_TRY(
      Tensor output,
      Tensor::empty_strided(shown(sizes, shape),
                            shown(gapless_strides(sizes, channels_last), shape),
                            call.input->dtype()));
  const Job job{shape,     *call.input, *call.weight,
                call.bias, output,      channels_last};
  if (output.numel() > 0) BERTH_CHECK(run(job));
  return output;
}

}  // namespace berth::shim

using berth::Status;
using berth::shim::borrow;
using berth::shim::ConvolutionCall;
using berth::shim::give;
using berth::shim::list_of;
using berth::shim::trap;

std::int32_t aoti_berth_cpu_convolution(
    AtenTensorHandle input, AtenTensorHandle weight, AtenTensorHandle* bias,
    const std::int64_t* stride, std::int64_t stride_len,
    const std::int64_t* padding, std::int64_t padding_len,
    const std::int64_t* dilation, std::int64_t dilation_len,
    std::int32_t transposed, const std::int64_t* output_padding,
    std::int64_t output_padding_len, std::int64_t groups,
    AtenTensorHandle* out) {
  return trap(__func__, [&]() -> Status {
    ConvolutionCall call;
    BERTH_TRY(call.input, borrow(input));
    BERTH_TRY(call.weight, borrow(weight));
    BERTH_TRY(call.bias, berth::shim::borrow_optional(bias));
    BERTH_TRY(call.stride,
              list_of(stride, stride_len, "the stride of a convolution"));
    BERTH_TRY(call.padding,
              list_of(padding, padding_len, "the padding of a convolution"));
    BERTH_TRY(call.dilation,
              list_of(dilation, dilation_len, "the dilation of a convolution"));
    call.transposed = transposed != 0;
    BERTH_TRY(call.output_padding,
              list_of(output_padding, output_padding_len,
                      "the output padding of a convolution"));
    call.groups = groups;
    return give(berth::shim::convolution(call), out);
  });
}
