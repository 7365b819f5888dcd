// Stands in for a Python extension with Berth inside.
#include "library/promotion.h"

#define BERTH_EXPORT extern "C" __attribute__((visibility("default")))

BERTH_EXPORT int promoted_answer() { return 42; }
BERTH_EXPORT bool promote() {
  return berth::library::promote_self().has_value();
}
