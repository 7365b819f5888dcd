// Whether an input is what the model was compiled for, and how to make it so.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "berth/result.h"
#include "berth/signature.h"
#include "berth/tensor.h"
#include "tensor/layout.h"

namespace berth::model {

// The rule for one input.
//
// Owns     a copy of what it needs of the spec.
// Threads  immutable; share freely.
// Fails    kInvalidArgument, with what was expected and what was found.
class InputRule {
 public:
  explicit InputRule(const TensorSpec& spec);

  // True when the library may be given `input` as it is.
  bool fits(const Tensor& input) const noexcept;

  // What it may be given instead: the same memory with the strides that were
  // compiled where those make no difference, else a copy. An error when dtype
  // or sizes are wrong.
  Result<Tensor> fit(const Tensor& input) const;

 private:
  using Strides = std::array<std::int64_t, tensor::kMostDims>;

  // Whether dtype, rank and sizes are what was compiled.
  bool is_of_type(const Tensor& input) const noexcept;

  // Those that an input of its sizes is to have, in `buffer`. Its own where
  // they vary and no order tells them: comparing those is the library's part.
  tensor::Extents strides_for(const Tensor& input,
                              Strides& buffer) const noexcept;

  TensorSpec spec_;
  // The dimensions from the innermost one to the outermost, of a gapless tensor
  // with these strides; empty when no order has them.
  std::vector<std::uint8_t> order_;
};

}  // namespace berth::model
