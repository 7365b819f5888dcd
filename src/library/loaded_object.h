// Questions to the libraries that the loader has, answered from their memory:
// opening one by name, to ask it, costs about ten times as much.
#pragma once

#include <string_view>

namespace berth::library {

// Whether an object is loaded whose DT_SONAME, or else whose file's name, is
// `name`.
// Threads  any; what another thread loads or closes meanwhile counts or not.
bool is_loaded(std::string_view name);

// Whether that object defines the symbol version; false when it is not loaded.
bool defines_version(std::string_view name, std::string_view version);

}  // namespace berth::library
