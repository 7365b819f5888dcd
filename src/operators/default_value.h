// The default of an operator's parameter.
#pragma once

#include <optional>
#include <string_view>

#include "berth/operator.h"
#include "operators/schema.h"

namespace berth::operators {

// What `text` ("None", "True", "-1", "1e-05", "[1, 1]", "\"linear\"") is for a
// parameter of `type`: one number stands for all of a list whose length the
// type tells. None for what is no value of that type.
std::optional<OperatorArgument> default_value(std::string_view text,
                                              const Type& type);

}  // namespace berth::operators
