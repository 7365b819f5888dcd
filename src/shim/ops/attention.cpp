#include "shim/ops/attention.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "shim/functions.h"
#include "shim/ops/arguments.h"
#include "shim/ops/attention_job.h"
#include "shim/ops/empty_like.h"
#include "shim/trap.h"
#include "tensor/copy.h"
#include "tensor/layout.h"

namespace berth::shim {
namespace {

using tensor::Extents;
using tensor::to_text;

Status check_dtypes(const AttentionArguments& a) {
  const DType dtype = a.query.dtype();
  if (dtype != DType::kFloat32 && dtype != DType::kFloat64 &&
      dtype != DType::kFloat16 && dtype != DType::kBFloat16)
    return fail(Code::kUnsupported,
                "attention needs float32, float64, float16 or bfloat16, found ",
                to_string(dtype));
  if (a.key.dtype() != dtype || a.value.dtype() != dtype)
    return fail(Code::kInvalidArgument,
                "expected key and value of the query's ", to_string(dtype),
                ", found ", to_string(a.key.dtype()), " and ",
                to_string(a.value.dtype()));
  if (a.mask != nullptr && a.mask->dtype() != dtype &&
      a.mask->dtype() != DType::kFloat32)
    return fail(Code::kInvalidArgument, "expected an attention mask of ",
                to_string(dtype), " or float32, found ",
                to_string(a.mask->dtype()));
  return ok();
}

Status check_sizes(const AttentionArguments& a) {
  const Extents query = a.query.sizes();
  const Extents key = a.key.sizes();
  const bool fits = query.size() == 4 && key.size() == 4 &&
                    std::ranges::equal(key, a.value.sizes()) &&
                    query[0] == key[0] && query[3] == key[3];
  if (!fits)
    return fail(Code::kInvalidArgument,
                "expected query [batch, heads, length, width], and key and "
                "value with its batch and width, of one length, found ",
                to_text(query), ", ", to_text(key), " and ",
                to_text(a.value.sizes()));
  if (key[1] == 0 ? query[1] != 0 : query[1] % key[1] != 0)
    return fail(Code::kInvalidArgument, "expected as many heads of the query ",
                to_text(query), " for each head of the key, found ",
                to_text(key));
  return ok();
}

// The steps with which the mask is read as one of all scores.
Result<Heads> heads_of_mask(const AttentionArguments& a) {
  const Tensor& mask = *a.mask;
  const std::array<std::int64_t, 4> scores{
      a.query.sizes()[0], a.query.sizes()[1], a.query.sizes()[2],
      a.key.sizes()[2]};
  Heads heads{static_cast<std::byte*>(mask.data()), {}};
  if ((mask.dim() != 2 && mask.dim() != 4) ||
      !tensor::broadcast_strides(mask.sizes(), mask.strides(), scores,
                                 heads.steps.data()))
    return fail(Code::kInvalidArgument,
                "expected an attention mask of two or four dimensions that "
                "expands to ",
                to_text(scores), ", found ", to_text(mask.sizes()));
  return heads;
}

// The dimensions lie in memory as batch, length, heads.
Result<Tensor> empty_normalizer(const Tensor& query) {
  const Extents q = query.sizes();
  const std::array<std::int64_t, 3> sizes{q[0], q[1], q[2]};
  const std::int64_t step = std::max<std::int64_t>(q[1], 1);
  const std::array<std::int64_t, 3> strides{tensor::outer_stride(step, q[2]), 1,
                                            step};
  return Tensor::empty_strided(
      sizes, strides,
      query.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32);
}

Heads heads_of(const Tensor& tensor) {
  Heads heads{static_cast<std::byte*>(tensor.data()), {}};
  std::ranges::copy(tensor.strides(), heads.steps.begin());
  return heads;
}

AttentionJob job_of(const AttentionArguments& a, const Tensor& output,
                    const Tensor& normalizer) {
  const Extents query = a.query.sizes();
  AttentionJob job;
  job.batches = query[0];
  job.heads = query[1];
  job.queries = query[2];
  job.keys = a.key.sizes()[2];
  job.width = query[3];
  job.heads_per_key = query[1] / a.key.sizes()[1];
  job.scale = a.scale.value_or(1 / std::sqrt(static_cast<double>(job.width)));
  job.causal = a.causal;
  job.dtype = a.query.dtype();
  job.query = heads_of(a.query);
  job.key = heads_of(a.key);
  job.value = heads_of(a.value);
  job.output = heads_of(output);
  job.normalizer = heads_of(normalizer);
  return job;
}

}  // namespace

Result<AttentionResult> attention(const AttentionArguments& a) {
  BERTH_CHECK(check_dtypes(a));
  BERTH_CHECK(check_sizes(a));
  if (a.dropout != 0)
    return fail(Code::kInvalidArgument,
                "expected no dropout in attention, found ", a.dropout);
  Heads mask;
  if (a.mask != nullptr) {
    BERTH_TRY(mask, heads_of_mask(a));
  }
  BERTH_TRY(Tensor output, empty_like(a.query, a.query.dtype()));
  BERTH_TRY(Tensor normalizer, empty_normalizer(a.query));
  if (output.numel() == 0) {
    tensor::zero_elements(normalizer.sizes(), element_size(normalizer.dtype()),
                          static_cast<std::byte*>(normalizer.data()),
                          normalizer.strides());
  } else {
    AttentionJob job = job_of(a, output, normalizer);
    if (a.mask != nullptr) {
      job.masked = true;
      job.mask = mask;
      job.mask_dtype = a.mask->dtype();
    }
    BERTH_CHECK(attend(job));
  }
  return AttentionResult{std::move(output), std::move(normalizer)};
}

}  // namespace berth::shim

std::int32_t aoti_berth_cpu__scaled_dot_product_flash_attention_for_cpu(
    AtenTensorHandle query, AtenTensorHandle key, AtenTensorHandle value,
    double dropout_p, std::int32_t is_causal, AtenTensorHandle* attn_mask,
    double* scale, AtenTensorHandle* ret0, AtenTensorHandle* ret1) {
  using berth::Status;
  using berth::Tensor;
  using berth::shim::borrow;
  return berth::shim::trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* q, borrow(query));
    BERTH_TRY(const Tensor* k, borrow(key));
    BERTH_TRY(const Tensor* v, borrow(value));
    berth::shim::AttentionArguments arguments{*q, *k, *v};
    if (attn_mask != nullptr) {
      BERTH_TRY(arguments.mask, borrow(*attn_mask));
    }
    arguments.dropout = dropout_p;
    arguments.causal = is_causal != 0;
    if (scale != nullptr) arguments.scale = *scale;
    BERTH_TRY(berth::shim::AttentionResult result,
              berth::shim::attention(arguments));
    return berth::shim::give_all<2>(
        {std::move(result.output), std::move(result.normalizer)}, {ret0, ret1});
  });
}
