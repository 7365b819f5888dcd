// What a package says of one call of an operator by name.
#pragma once

#include <nlohmann/json.hpp>

#include "operators/external_calls.h"

namespace berth::operators {

// `node` is of torch.export's schema: "target", "inputs", "outputs". A call of
// an operator that is not registered has no target and no arguments.
//
// Fails   with kCorrupt where the operator's schema says otherwise.
// Throws  nlohmann::json::exception where a member is missing or not of its
//         type.
Result<ExternalCall> read_call(const nlohmann::json& node);

}  // namespace berth::operators
