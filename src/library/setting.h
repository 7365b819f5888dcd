// What the environment says about placing libraries.
#pragma once

#include <string_view>

namespace berth::library {

// Empty where it says nothing, and always in a set-user-id program, whose
// caller chose the environment. Good until the environment changes.
std::string_view setting(const char* name);

}  // namespace berth::library
