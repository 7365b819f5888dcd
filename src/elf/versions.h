// Symbol versions: which version of a symbol a library needs or defines.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "elf/dynamic.h"
#include "elf/segments.h"
#include "elf/string_table.h"

namespace berth::elf {

// One version that a library needs of another.
struct VersionNeed {
  std::string_view file;     // For example "libc.so.6".
  std::string_view version;  // For example "GLIBC_2.34".
  bool weak = false;         // The loader does without it.
};

// Owns     its lists; the strings are views of the image's bytes.
// Threads  immutable after parse().
// Fails    kCorrupt when an entry leaves its table, an index means two versions
//          or none, or the tables that belong together are not all there.
class Versions {
 public:
  static Result<Versions> parse(const Segments& segments,
                                const Dynamic& dynamic,
                                const StringTable& strings,
                                std::uint32_t symbol_count);

  const std::vector<VersionNeed>& needs() const noexcept { return needs_; }
  const std::vector<StringUse>& string_uses() const noexcept { return uses_; }

  // The version index of symbol `i`: VER_NDX_LOCAL, VER_NDX_GLOBAL (no
  // version), or that of a version.
  std::uint16_t index_of(std::uint32_t i) const noexcept {
    return indices_.empty() ? std::uint16_t{VER_NDX_GLOBAL} : indices_[i];
  }

  // Empty for VER_NDX_LOCAL and VER_NDX_GLOBAL.
  std::string_view name_of(std::uint16_t index) const noexcept {
    return index < names_.size() ? names_[index] : std::string_view();
  }

  // File offset of the index of symbol 0, or 0 when no symbol has a version.
  std::uint64_t offset() const noexcept { return offset_; }

 private:
  struct Reader;
  Status read_needs(const Reader& reader, std::uint64_t address,
                    std::uint64_t count);
  Status read_definitions(const Reader& reader, std::uint64_t address,
                          std::uint64_t count);
  Status read_indices(const Segments& segments, std::uint64_t address,
                      std::uint32_t symbol_count);
  Status define(std::uint16_t index, std::string_view name);

  std::vector<VersionNeed> needs_;
  std::vector<StringUse> uses_;
  std::vector<std::string_view> names_;  // By index; empty: not defined.
  std::vector<std::uint16_t> indices_;   // By symbol.
  std::uint64_t offset_ = 0;
};

}  // namespace berth::elf
