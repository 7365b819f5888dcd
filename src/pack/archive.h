// A zip archive: its entries, and the bytes of each.
//
// Knows nothing of what torch puts into one; that is package.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "berth/result.h"
#include "pack/source.h"

namespace berth::pack {

// A value.
// Units    bytes.
struct Entry {
  std::string name;
  std::uint64_t size = 0;
  std::uint64_t packed_size = 0;
  std::uint64_t index = 0;  // In the directory.
};

// Owns     its source, which it keeps open.
// Threads  immutable; share freely. Reads take turns.
// Fails    kCorrupt when the archive contradicts itself or a checksum is wrong,
//          kUnsupported for encryption and for compression other than deflate,
//          kSystem when it cannot be read.
class Archive {
 public:
  // True when what begins with `head` could be one.
  static bool is_archive(base::Bytes head) noexcept;

  static Result<Archive> open(Source source);

  Archive(Archive&&) noexcept;
  Archive& operator=(Archive&&) noexcept;
  ~Archive();

  const std::vector<Entry>& entries() const noexcept { return entries_; }

  // The entry of that name, or null.
  const Entry* find(std::string_view name) const noexcept;

  // All of its bytes, whose checksum was compared.
  Result<std::vector<std::byte>> read(const Entry& entry) const;

 private:
  class Reader;
  explicit Archive(Source source);
  Status list();

  std::unique_ptr<Reader> reader_;
  std::vector<Entry> entries_;  // In the order of the directory.
};

}  // namespace berth::pack
