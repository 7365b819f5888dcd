// DLPack arrays in Python's capsules.
#pragma once

#include <nanobind/nanobind.h>

#include "berth/result.h"
#include "berth/tensor.h"
#include "dlpack_abi.h"

namespace berth::python {

// A capsule that owns `array` until somebody takes it.
nanobind::object to_capsule(DLManagedTensorVersioned* array);
nanobind::object to_capsule(DLManagedTensor* array);

// A tensor on the array of `capsule`, of either kind, which is empty then.
// kInvalidArgument for anything else.
Result<Tensor> take_capsule(nanobind::handle capsule);

}  // namespace berth::python
