// The vector math that delegates import from SLEEF without naming it.
//
// A delegate's Sleef_x becomes Berth_x in its copy, so that it never meets the
// copies that libtorch exports. Each Berth_x is a jump through a slot, which is
// filled when a library that imports it is checked: who uses no vector math
// needs no libsleef.
#pragma once

#include <string_view>

#include "berth/result.h"

namespace berth::shim {

// Makes the import `name` ("Sleef_expf8_u10") callable. Loads libsleef once per
// process, privately, and keeps it.
// Threads  any.
// Fails    kNotFound when there is no stub of that name or libsleef lacks it,
//          kSystem when libsleef cannot be loaded.
Status bind_sleef(std::string_view name);

// True when bind_sleef() succeeds.
bool serves_sleef(std::string_view name);

}  // namespace berth::shim
