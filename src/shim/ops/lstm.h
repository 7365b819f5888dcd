// A layer of LSTM, in one direction.
#pragma once

#include "berth/result.h"
#include "berth/tensor.h"

namespace berth::shim {

// Borrows its tensors. Biases are both there or both null.
struct LstmCall {
  const Tensor* input = nullptr;          // steps, batch, features
  const Tensor* input_weight = nullptr;   // 4 * hidden, features
  const Tensor* hidden_weight = nullptr;  // 4 * hidden, hidden
  const Tensor* input_bias = nullptr;     // 4 * hidden
  const Tensor* hidden_bias = nullptr;    // 4 * hidden
  const Tensor* hidden = nullptr;         // batch, hidden; or 1 before them
  const Tensor* cell = nullptr;           // as `hidden`
  std::int64_t hidden_size = 0;
  bool reverse = false;
};

// All row-major; the states have the sizes of those that were given.
struct LstmResult {
  Tensor output;  // steps, batch, hidden
  Tensor hidden;
  Tensor cell;
};

// float runs in oneDNN; Half and BFloat16 are widened and rounded once, at the
// end. Fails with kInvalidArgument for what does not fit together,
// kUnsupported for other dtypes, kOutOfMemory, kSystem without oneDNN.
Result<LstmResult> lstm(const LstmCall& call);

}  // namespace berth::shim
