// The first 64 bytes: is this a shared object for this machine?
#pragma once

#include <elf.h>

#include "base/bytes.h"
#include "berth/result.h"

namespace berth::elf {

// Fails with kCorrupt when `bytes` are not an ELF file or are cut short, with
// kIncompatible, saying what was expected and what was found, when they are one
// of another kind.
Result<Elf64_Ehdr> read_file_header(base::Bytes bytes);

}  // namespace berth::elf
