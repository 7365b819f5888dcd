// Scaled dot product attention.
#pragma once

#include <optional>

#include "berth/result.h"
#include "berth/tensor.h"

namespace berth::shim {

// Of the operator _scaled_dot_product_flash_attention_for_cpu. The operands are
// [batch, heads, length, width] of float32, float64, float16 or bfloat16; key
// and value may have fewer heads, each for as many heads of the query.
struct AttentionArguments {
  const Tensor& query;
  const Tensor& key;
  const Tensor& value;
  // Added to the scores: [length, length] or [batch, heads, length, length],
  // repeated where it has size 1, of the query's dtype or float32. May be null.
  const Tensor* mask = nullptr;
  double dropout = 0;
  bool causal = false;
  std::optional<double> scale = {};  // 1 / sqrt(width) without one.
};

struct AttentionResult {
  Tensor output;      // As the query, with its strides where it has no gaps.
  Tensor normalizer;  // [batch, heads, length]: log(sum(exp(score))).
};

// Fails with kInvalidArgument for sizes and dtypes that do not fit together and
// for a dropout, kUnsupported for other dtypes, kOutOfMemory.
Result<AttentionResult> attention(const AttentionArguments& arguments);

}  // namespace berth::shim
