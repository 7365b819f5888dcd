// Memory with a descriptor (memfd), for libraries and for constants.
#pragma once

#include <string>

#include "base/file.h"

namespace berth::library {

// New memory, closed on exec, from which code may or may not be mapped. Empty,
// with errno set, where the kernel or its policy refuses.
base::Descriptor create_memory_file(const std::string& name, bool executable);

// From here on its bytes and its size stay what they are. False, with errno
// set, where that is refused.
bool seal_memory_file(int fd);

}  // namespace berth::library
