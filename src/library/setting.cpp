#include "library/setting.h"

#include <cstdlib>

namespace berth::library {

std::string_view setting(const char* name) {
  const char* value = ::secure_getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace berth::library
