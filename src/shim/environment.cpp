// The delegate's view of the environment. A delegate can check its inputs
// against what it was compiled for (dtype, rank, sizes, strides), but does so
// only when a variable is set. Reading past a tensor is worse than a few
// comparisons, so that variable is set for every delegate, unless the user says
// otherwise.
#include <cstdlib>
#include <string_view>

#include "shim/functions.h"

char* berenv(const char* name) {
  char* value = std::getenv(name);
  if (value == nullptr &&
      std::string_view(name) == "AOTI_RUNTIME_CHECK_INPUTS") {
    static char on[] = "1";
    return on;
  }
  return value;
}
