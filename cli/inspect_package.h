// `berth inspect` of a package.
#pragma once

#include "cli/inspect.h"

namespace berth::cli {

// Every model, or the one that is named. What a model takes and gives only its
// library tells, once it is mapped, so that is not here.
Status inspect_package(const InspectOptions& options);

}  // namespace berth::cli
