#include "elf/dynamic.h"

#include <algorithm>

#include "elf/hex.h"

namespace berth::elf {

Result<Dynamic> Dynamic::parse(const Segments& segments) {
  const Elf64_Phdr* header = segments.find(PT_DYNAMIC);
  if (header == nullptr)
    return fail(Code::kIncompatible,
                "no dynamic table (PT_DYNAMIC): not a library to load");
  // The loader writes addresses into the table when its header allows that.
  if (!segments.is_mapped(header->p_vaddr, header->p_filesz,
                          header->p_flags & PF_W))
    return fail(Code::kCorrupt, "the dynamic table at ", Hex{header->p_vaddr},
                " is writable, its segment is not");
  Dynamic dynamic;
  dynamic.offset_ = header->p_offset;
  dynamic.slot_count_ = header->p_filesz / sizeof(Elf64_Dyn);
  for (std::uint64_t i = 0; i < dynamic.slot_count_; ++i) {
    const auto entry = *base::load<Elf64_Dyn>(
        segments.bytes(), dynamic.offset_ + i * sizeof(Elf64_Dyn));
    if (entry.d_tag == DT_NULL) {
      BERTH_CHECK(dynamic.check_unique());
      return dynamic;
    }
    dynamic.entries_.push_back(entry);
  }
  return fail(Code::kCorrupt, "the dynamic table of ", dynamic.slot_count_,
              " entries has no DT_NULL at its end");
}

// Of two entries the loader takes the last; nobody should have to know that.
Status Dynamic::check_unique() const {
  std::vector<std::int64_t> tags;
  for (const Elf64_Dyn& entry : entries_)
    if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_AUXILIARY &&
        entry.d_tag != DT_FILTER)
      tags.push_back(entry.d_tag);
  std::sort(tags.begin(), tags.end());
  const auto twice = std::adjacent_find(tags.begin(), tags.end());
  if (twice != tags.end())
    return fail(Code::kCorrupt, "the dynamic table has tag ",
                Hex{static_cast<std::uint64_t>(*twice)}, " more than once");
  return ok();
}

std::optional<std::uint64_t> Dynamic::find(std::int64_t tag) const noexcept {
  for (const Elf64_Dyn& entry : entries_)
    if (entry.d_tag == tag) return entry.d_un.d_val;
  return std::nullopt;
}

Result<Table> Dynamic::table(const Segments& segments, std::string_view what,
                             std::int64_t address_tag, std::int64_t size_tag,
                             std::uint64_t entry_size) const {
  const auto address = find(address_tag);
  const auto bytes = find(size_tag);
  // The loader reads the one without asking whether it is there when it has
  // seen the other.
  if (address.has_value() != bytes.has_value())
    return fail(Code::kCorrupt, what, " has ",
                address ? "an address and no size" : "a size and no address");
  const std::uint64_t size = bytes.value_or(0);
  if (size % entry_size != 0)
    return fail(Code::kCorrupt, what, " has ", size,
                " bytes, expected a multiple of ", entry_size);
  if (size == 0) return Table{};
  BERTH_TRY(const std::uint64_t offset,
            segments.offset_of(*address, size, what));
  return Table{offset, size / entry_size};
}

}  // namespace berth::elf
