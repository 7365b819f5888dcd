#include "operators/builtin.h"

#include <array>

#include "operators/median.h"

namespace berth::operators {

std::span<const Builtin> builtins() noexcept {
  static constexpr std::array kAll = {
#define BERTH_OPERATOR(function, schema) Builtin{schema, function},
#include "operators/builtin.inc"
#undef BERTH_OPERATOR
  };
  return kAll;
}

}  // namespace berth::operators
