// Finds out what inputs a compiled model takes.
//
// Nothing in a library says it, but the code that torch generates to check
// inputs does: it names the first number that is not as compiled, before it
// touches anything. So the model is shown inputs that are wrong in every way,
// which are corrected after each complaint until none is left. Such inputs have
// no memory, and the model is never shown the last one without a flaw: nothing
// runs.
#pragma once

#include <cstddef>
#include <vector>

#include "base/bytes.h"
#include "berth/signature.h"
#include "model/container.h"

namespace berth::model {

// True when `image` has the texts of these checks, and the environment leaves
// them on.
bool checks_inputs(base::Bytes image);

// What `container`, whose library checks its inputs, was compiled for. Specs
// are not known from the first input on at which the model says something that
// is not understood. Names and paths are empty.
std::vector<TensorSpec> probe_inputs(Container& container);

}  // namespace berth::model
