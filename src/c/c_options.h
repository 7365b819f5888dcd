// How a model is loaded, as C says it.
#pragma once

#include "berth/berth.h"
#include "berth/options.h"

namespace berth::c {

// The defaults when `given` is null. Fails with kInvalidArgument for numbers
// that stand for nothing, with kUnsupported for fields that are newer.
Result<ModelOptions> read_options(const berth_options* given);

}  // namespace berth::c
