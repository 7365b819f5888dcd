// A shared object as bytes: parsed and checked, not mapped.
//
// The image answers questions about bytes that anyone may have written. It does
// not decide what is allowed (policy.h), changes nothing (identity.h) and maps
// nothing (library/). Everything is found the way the loader finds it, through
// the program headers and the dynamic table; what the loader would follow
// unchecked is checked here, so that mapping the bytes cannot crash it. Machine
// code and data are not looked at.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "berth/result.h"
#include "elf/dynamic.h"
#include "elf/segments.h"
#include "elf/string_table.h"
#include "elf/symbol_table.h"
#include "elf/versions.h"

namespace berth::elf {

// Owns     its lists. Borrows the bytes given to parse(), which must outlive it
//          and every string_view that it returns.
// Threads  immutable after parse(); share freely.
// Units    bytes. File offsets end in _offset, addresses in _address.
// Fails    kCorrupt when the bytes contradict themselves, kIncompatible when
//          they are sound but not a library for this machine.
class Image {
 public:
  static Result<Image> parse(base::Bytes bytes);

  // DT_NEEDED, in order, and DT_SONAME, or an empty string.
  const std::vector<std::string_view>& needed() const noexcept {
    return needed_;
  }
  std::string_view soname() const noexcept { return soname_; }

  // All dynamic symbols, by index; the one at index 0 is empty.
  const std::vector<Symbol>& symbols() const noexcept {
    return symbols_.symbols();
  }

  // Those that other libraries have to define.
  std::vector<Symbol> imports() const;

  // The symbol that others find under this name, or null.
  const Symbol* find_export(std::string_view name) const noexcept;

  const std::vector<VersionNeed>& version_needs() const noexcept {
    return versions_.needs();
  }

  // True also when nothing is said about the stack, which the loader takes for
  // a request.
  bool executable_stack() const noexcept;

  // Thread-local memory that every thread gets.
  std::uint64_t tls_size() const noexcept;

  bool has_text_relocations() const noexcept;

  // True when the library's own definitions win over everyone else's.
  bool is_symbolic() const noexcept;

  // Calls `visit(StringUse)` for every mention of a string, symbols' names
  // included; in no order.
  template <typename Visit>
  void visit_strings(Visit&& visit) const {
    for (const StringUse& use : dynamic_uses_) visit(use);
    for (const StringUse& use : versions_.string_uses()) visit(use);
    for (const Symbol& symbol : symbols())
      visit(StringUse{symbol.defined ? "a symbol defined here" : "an import",
                      symbol.name_offset, symbol.name, !symbol.defined});
  }

  // What identity.h needs to find bytes.
  const Segments& segments() const noexcept { return segments_; }
  const Dynamic& dynamic() const noexcept { return dynamic_; }
  std::uint64_t symbols_offset() const noexcept { return symbols_.offset(); }
  std::uint64_t strings_offset() const noexcept { return strings_offset_; }
  // 0 when no symbol has a version.
  std::uint64_t versions_offset() const noexcept { return versions_.offset(); }

 private:
  Image(Segments segments, Dynamic dynamic)
      : segments_(std::move(segments)), dynamic_(std::move(dynamic)) {}
  Status read_strings(StringTable* strings);
  Status check_version_files() const;

  Segments segments_;
  Dynamic dynamic_;
  std::uint64_t strings_offset_ = 0;
  std::vector<std::string_view> needed_;
  std::string_view soname_;
  std::vector<StringUse> dynamic_uses_;
  Versions versions_;
  SymbolTable symbols_;
};

}  // namespace berth::elf
