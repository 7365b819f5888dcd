// The hash tables through which the loader finds symbols. They are also the
// only place that says how many symbols there are.
#pragma once

#include <cstdint>

#include "berth/result.h"
#include "elf/dynamic.h"
#include "elf/segments.h"

namespace berth::elf {

// The number of entries of the symbol table, the empty first one included.
// Every chain of DT_GNU_HASH and DT_HASH is followed to its end once.
// Fails with kCorrupt when a chain leaves its table or never ends, with
// kIncompatible when the library has no hash table or exports nothing.
Result<std::uint32_t> count_symbols(const Segments& segments,
                                    const Dynamic& dynamic);

}  // namespace berth::elf
