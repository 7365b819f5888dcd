// What comes with a library.
#pragma once

#include <memory>

#include "model/weights.h"
#include "operators/external_calls.h"

namespace berth::model {

using SharedCalls = std::shared_ptr<const operators::ExternalCalls>;

// A value; shares the calls.
struct Companions {
  Weights weights;
  // The operators that it calls by name; null when nothing is known of them.
  SharedCalls calls;
};

}  // namespace berth::model
