// Layers of LSTM, of floats, in oneDNN.
#pragma once

#include <cstdint>

#include "berth/result.h"

namespace berth::shim {

struct LstmShape {
  std::int64_t steps = 0;
  std::int64_t batch = 0;
  std::int64_t features = 0;
  std::int64_t hidden = 0;
  bool reverse = false;  // From the last step to the first.

  bool operator==(const LstmShape&) const = default;
};

// Borrows its elements, all row-major and none without elements. Gates are in
// the order input, forget, cell, output.
struct FloatLstm {
  LstmShape shape;
  const float* input = nullptr;          // steps, batch, features
  const float* input_weight = nullptr;   // 4 gates, hidden, features
  const float* hidden_weight = nullptr;  // 4 gates, hidden, hidden
  const float* bias = nullptr;           // 4 gates, hidden
  const float* hidden = nullptr;         // batch, hidden
  const float* cell = nullptr;           // batch, hidden
  float* output = nullptr;               // steps, batch, hidden
  float* last_hidden = nullptr;          // batch, hidden
  float* last_cell = nullptr;            // batch, hidden
};

// What oneDNN needs to know of a layer is worked out once and kept.
// Threads  any.
// Fails    as DnnlPrimitive does.
Status lstm_in_dnnl(const FloatLstm& layer);

}  // namespace berth::shim
