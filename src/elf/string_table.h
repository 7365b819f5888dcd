// The strings of a shared object, and who uses them.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "berth/result.h"

namespace berth::elf {

// One mention of a string by a table of the image. Linkers let strings share
// bytes: "getenv" may be the end of "my_getenv".
struct StringUse {
  const char* by;        // For example "DT_NEEDED"; static.
  std::uint64_t offset;  // In the string table.
  std::string_view text;
  bool is_import = false;  // The name of a symbol that is not defined here.
};

// Owns     nothing: a view of the image's bytes, as are the strings.
// Threads  immutable.
// Units    offsets count from the start of the table.
class StringTable {
 public:
  StringTable() noexcept = default;

  // Fails with kCorrupt unless `bytes` end with a NUL, so that every string
  // does.
  static Result<StringTable> parse(base::Bytes bytes) {
    if (bytes.empty() || bytes.back() != std::byte{0})
      return fail(Code::kCorrupt, "the string table of ", bytes.size(),
                  " bytes does not end with a NUL");
    return StringTable(bytes);
  }

  bool has(std::uint64_t offset) const noexcept {
    return offset < bytes_.size();
  }

  // The string at an offset that the table has.
  std::string_view operator[](std::uint64_t offset) const noexcept {
    return reinterpret_cast<const char*>(bytes_.data() + offset);
  }

  // Fails with kCorrupt, naming `whose`, when `offset` is outside.
  Result<std::string_view> at(std::uint64_t offset, const char* whose) const {
    if (has(offset)) return (*this)[offset];
    return fail(Code::kCorrupt, whose, " names string ", offset,
                ", the string table has ", bytes_.size(), " bytes");
  }

 private:
  explicit StringTable(base::Bytes bytes) noexcept : bytes_(bytes) {}

  base::Bytes bytes_;
};

}  // namespace berth::elf
