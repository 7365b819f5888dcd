// Calls of operators by their number in the model's list, through the handle
// that a run is given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "berth/result.h"
#include "shim/handle.h"

namespace berth::shim {

// What a delegate's proxy executor handle points to.
class ProxyExecutor {
 public:
  // Runs the operator of node `index`. `tensors` are the inputs, then the
  // outputs, whose handles are there and take the results.
  virtual Status call(std::size_t index, std::span<const std::int64_t> ints,
                      std::span<const AtenTensorHandle> tensors) const = 0;

 protected:
  ~ProxyExecutor() = default;
};

}  // namespace berth::shim
