// The dynamic table: what a shared object tells the loader about itself.
#pragma once

#include <elf.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "elf/segments.h"

namespace berth::elf {

// Entries of equal size that lie in the file.
struct Table {
  std::uint64_t offset = 0;  // Of the first, in the file.
  std::uint64_t count = 0;
};

// Owns     the entries.
// Threads  immutable after parse().
// Units    offsets and sizes in bytes.
// Fails    kCorrupt when the table has no end or says one thing twice.
class Dynamic {
 public:
  static Result<Dynamic> parse(const Segments& segments);

  // All before the first DT_NULL, in order.
  const std::vector<Elf64_Dyn>& entries() const noexcept { return entries_; }

  std::optional<std::uint64_t> find(std::int64_t tag) const noexcept;
  std::uint64_t value_or_zero(std::int64_t tag) const noexcept {
    return find(tag).value_or(0);
  }

  // The table that `address_tag` and `size_tag` describe; empty when there is
  // none. Fails, naming `what`, when its size is no multiple of `entry_size`
  // or it is not loaded from the file.
  Result<Table> table(const Segments& segments, std::string_view what,
                      std::int64_t address_tag, std::int64_t size_tag,
                      std::uint64_t entry_size) const;

  // File offset of the first entry, and how many entries have room there: those
  // of entries(), the DT_NULL, and spare ones.
  std::uint64_t offset() const noexcept { return offset_; }
  std::uint64_t slot_count() const noexcept { return slot_count_; }

 private:
  Status check_unique() const;

  std::vector<Elf64_Dyn> entries_;
  std::uint64_t offset_ = 0;
  std::uint64_t slot_count_ = 0;
};

}  // namespace berth::elf
