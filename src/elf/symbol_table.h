// The dynamic symbols of a shared object.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "elf/dynamic.h"
#include "elf/segments.h"
#include "elf/string_table.h"
#include "elf/versions.h"

namespace berth::elf {

// A value; the strings are views of the image's bytes.
// Units    value is an address relative to the library, or, for a thread-local
//          symbol, an offset into its block; size in bytes.
struct Symbol {
  std::string_view name;
  std::string_view version;  // Empty when it has none.
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  std::uint32_t index = 0;        // In the symbol table.
  std::uint32_t name_offset = 0;  // In the string table.
  std::uint16_t version_index = 0;
  std::uint8_t binding = 0;     // STB_GLOBAL, STB_WEAK, STB_GNU_UNIQUE, ...
  std::uint8_t type = 0;        // STT_FUNC, STT_OBJECT, ...
  std::uint8_t visibility = 0;  // STV_DEFAULT, ...
  bool defined = false;         // Here; otherwise it is an import.

  bool is_import() const noexcept { return !defined && !name.empty(); }
  bool is_exported() const noexcept;
};

class SymbolTable {
 public:
  // Fails with kCorrupt when a symbol's name or value is outside the image.
  static Result<SymbolTable> parse(const Segments& segments,
                                   const Dynamic& dynamic,
                                   const StringTable& strings,
                                   const Versions& versions,
                                   std::uint32_t count);

  // All, the empty one at index 0 included.
  const std::vector<Symbol>& symbols() const noexcept { return symbols_; }

  // File offset of the entry of symbol 0.
  std::uint64_t offset() const noexcept { return offset_; }

 private:
  std::vector<Symbol> symbols_;
  std::uint64_t offset_ = 0;
};

}  // namespace berth::elf
