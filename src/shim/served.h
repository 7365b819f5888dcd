// Which functions Berth serves to delegates.
//
// Not here: the vector math of SLEEF (sleef.h), thread exit (library/) and the
// environment.
#pragma once

#include <span>
#include <string_view>

#include "berth/inspection.h"

namespace berth::shim {

// All of them, sorted by name. Static memory, never freed.
std::span<const ServedFunction> served() noexcept;

// The one of torch's name `import` ("aoti_torch_get_dim"), or null.
const ServedFunction* find_served(std::string_view import) noexcept;

// The function itself, which is exported as aoti_berth_<rest of the name>;
// null when it is not served.
const void* served_address(std::string_view import) noexcept;

}  // namespace berth::shim
