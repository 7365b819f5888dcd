// Gives a library an identity of its own, so that any number of them, and
// libtorch, can be in one process without sharing a symbol.
//
// The edits are made in a private copy of the bytes, in place and of the same
// length:
//
//   STB_GNU_UNIQUE definitions become STB_WEAK: one instance per library
//   imports that Berth serves get Berth's names (renames.h), without a version
//   DT_NEEDED of libtorch and libc10 is dropped
//   DF_SYMBOLIC is set: the library's own definitions win
//   PT_GNU_STACK loses PF_X: the process's stack stays as it is
//   DF_1_NODELETE and DF_1_GLOBAL are cleared: it can be closed, and hides
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "berth/result.h"
#include "elf/image.h"

namespace berth::elf {

// What was changed. A value.
// Fails    kIncompatible when an edit is impossible: a name to be changed
//          shares its bytes with another one, nothing says what stack the
//          library wants, or there is no room for DF_SYMBOLIC; kCorrupt when
//          tables of the image overlap. What Image::parse() says of the bytes.
struct Identity {
  std::size_t unique_count = 0;      // Symbols that were STB_GNU_UNIQUE.
  std::vector<std::string> renamed;  // Imports, by their old names.
  std::vector<std::string> dropped;  // DT_NEEDED that are gone.
  bool cleared_stack = false;        // It asked for an executable stack.
  bool made_symbolic = false;        // It was not symbolic before.
  bool unpinned = false;             // It asked to stay, or to be global.

  // What apply() would do. Reads only.
  static Result<Identity> plan(const Image& image);

  // Edits `bytes`, then parses them again and compares every symbol and name
  // with what was planned. Applied twice, it changes nothing more. After an
  // error the bytes are of no use.
  static Result<Identity> apply(base::MutableBytes bytes);
};

}  // namespace berth::elf
