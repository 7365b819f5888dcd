// Gives a library an identity of its own, so that any number of them, and
// libtorch, can be in one process without sharing a symbol.
//
// The edits are made while a private copy of the bytes is written
// (edited_bytes.h), in place and of the same length:
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

#include "berth/result.h"
#include "elf/edited_bytes.h"
#include "elf/image.h"

namespace berth::elf {

// What is to be changed. A value.
struct Identity {
  std::size_t unique_count = 0;      // Symbols that are STB_GNU_UNIQUE.
  std::vector<std::string> renamed;  // Imports, by their old names.
  std::vector<std::string> dropped;  // DT_NEEDED that go.
  bool cleared_stack = false;        // It asks for an executable stack.
  bool made_symbolic = false;        // It is not symbolic.
  bool unpinned = false;             // It asks to stay, or to be global.
  std::vector<Edit> edits;           // In no order.

  // Reads only. Fails with kIncompatible when an edit is impossible: a name to
  // be changed shares its bytes with another one, nothing says what stack the
  // library wants, or there is no room for DF_SYMBOLIC. Of an edited image the
  // plan is empty, save for edits that change nothing.
  static Result<Identity> plan(const Image& image);

  // Compares every symbol, name and flag of `after`, which was parsed from the
  // edited bytes, with those of `before`. Fails with kCorrupt when one is not
  // what the edits were to make of it: tables of the image overlap, or the
  // bytes that `before` is a view of changed meanwhile.
  static Status verify(const Image& before, const Image& after);
};

}  // namespace berth::elf
