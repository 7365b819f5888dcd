// What the loader will write where, before any code of the library runs.
#pragma once

#include <cstdint>

#include "berth/result.h"
#include "elf/dynamic.h"
#include "elf/segments.h"

namespace berth::elf {

// True when the library says that its code is to be patched.
bool has_text_relocations(const Dynamic& dynamic) noexcept;

// Fails with kCorrupt when a relocation names a symbol that is not there, or
// memory that the loader cannot write; with kIncompatible when it is of a kind
// that shared objects for x86-64 do not have.
Status check_relocations(const Segments& segments, const Dynamic& dynamic,
                         std::uint32_t symbol_count);

// The same for what the loader calls and reads beside them: initializers and
// finalizers.
Status check_initializers(const Segments& segments, const Dynamic& dynamic);

}  // namespace berth::elf
