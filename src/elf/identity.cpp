#include "elf/identity.h"

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <utility>

#include "elf/renames.h"

namespace berth::elf {
namespace {

constexpr std::uint64_t kPinning = DF_1_NODELETE | DF_1_GLOBAL;

// Collects the edits of one image, and says why one is impossible.
class Planner {
 public:
  explicit Planner(const Image& image) : image_(image) {}

  Status plan() {
    edit_symbols();
    BERTH_CHECK(check_sharing());
    BERTH_CHECK(check_versions());
    BERTH_CHECK(edit_dynamic());
    return edit_stack();
  }

  Identity identity() && { return std::move(identity_); }

 private:
  void put_bytes(std::uint64_t offset, const void* bytes, std::size_t size) {
    Edit edit{offset, static_cast<std::uint32_t>(size), {}};
    std::memcpy(edit.bytes.data(), bytes, size);
    identity_.edits.push_back(edit);
  }

  template <typename T>
  void put(std::uint64_t offset, const T& value) {
    static_assert(sizeof(T) <= Edit::kMost);
    put_bytes(offset, &value, sizeof(T));
  }

  void edit_symbols();
  void rename(const Symbol& symbol, const std::string& name);
  Status check_sharing();
  Status check_versions() const;
  Status edit_dynamic();
  Status edit_stack();
  bool next_slot_is_spare() const;

  const Image& image_;
  Identity identity_;
  // The imports' names that change: where each ends, since strings that share
  // bytes end at the same NUL, and the last byte of it that changes.
  struct Change {
    std::uint64_t end = 0;
    std::uint64_t last_offset = 0;
    const Symbol* import = nullptr;
  };
  std::vector<Change> changes_;
};

void Planner::edit_symbols() {
  for (const Symbol& symbol : image_.symbols()) {
    if (symbol.defined && symbol.binding == STB_GNU_UNIQUE) {
      ++identity_.unique_count;
      put<unsigned char>(image_.symbols_offset() +
                             symbol.index * sizeof(Elf64_Sym) +
                             offsetof(Elf64_Sym, st_info),
                         ELF64_ST_INFO(STB_WEAK, symbol.type));
    }
    if (!symbol.is_import()) continue;
    if (const auto name = renamed(symbol.name)) rename(symbol, *name);
  }
}

void Planner::rename(const Symbol& symbol, const std::string& name) {
  identity_.renamed.emplace_back(symbol.name);
  // Only the bytes that differ, so that names which share the rest may stay.
  std::size_t first = 0;
  std::size_t last = name.size() - 1;
  while (name[first] == symbol.name[first]) ++first;
  while (name[last] == symbol.name[last]) --last;
  changes_.push_back({symbol.name_offset + symbol.name.size(),
                      symbol.name_offset + last, &symbol});
  put_bytes(image_.strings_offset() + symbol.name_offset + first, &name[first],
            last - first + 1);
  if (image_.versions_offset() != 0)
    put<std::uint16_t>(
        image_.versions_offset() + symbol.index * sizeof(std::uint16_t),
        VER_NDX_GLOBAL);
}

// Linkers store a string that is the end of another one inside that one, so
// changing the bytes of an import may change a name that must stay.
Status Planner::check_sharing() {
  // Of those that end alike, the one that changes furthest.
  std::ranges::sort(changes_, [](const Change& a, const Change& b) {
    return a.end != b.end ? a.end < b.end : a.last_offset > b.last_offset;
  });
  // Most strings end where none of them does.
  std::bitset<4096> ends;
  for (const Change& change : changes_) ends.set(change.end % ends.size());
  const Change* shared = nullptr;
  StringUse sharer{};
  image_.visit_strings([&](const StringUse& use) {
    const std::uint64_t end = use.offset + use.text.size();
    if (!ends.test(end % ends.size())) return;
    const auto found =
        std::ranges::lower_bound(changes_, end, {}, &Change::end);
    if (found == changes_.end() || found->end != end ||
        use.offset > found->last_offset ||
        (use.offset == found->import->name_offset && use.is_import))
      return;
    shared = &*found;
    sharer = use;
  });
  if (shared == nullptr) return ok();
  return fail(Code::kIncompatible, "import '", shared->import->name,
              "' cannot be renamed: its bytes in the string table are also '",
              sharer.text, "' of ", sharer.by);
}

Status Planner::check_versions() const {
  for (const VersionNeed& need : image_.version_needs())
    if (is_torch_library(need.file))
      return fail(Code::kIncompatible, "'", need.file,
                  "' cannot be dropped: the library needs version '",
                  need.version, "' of it");
  return ok();
}

bool Planner::next_slot_is_spare() const {
  const Dynamic& dynamic = image_.dynamic();
  const std::uint64_t next = dynamic.entries().size() + 1;
  if (next >= dynamic.slot_count()) return false;
  const auto slot = base::load<Elf64_Dyn>(
      image_.segments().bytes(), dynamic.offset() + next * sizeof(Elf64_Dyn));
  return slot && slot->d_tag == DT_NULL && slot->d_un.d_val == 0;
}

Status Planner::edit_dynamic() {
  const std::vector<Elf64_Dyn>& old = image_.dynamic().entries();
  std::vector<Elf64_Dyn> entries;
  std::size_t needed_index = 0;
  for (Elf64_Dyn entry : old) {
    if (entry.d_tag == DT_NEEDED) {
      const std::string_view needed = image_.needed()[needed_index++];
      if (is_torch_library(needed)) {
        identity_.dropped.emplace_back(needed);
        continue;
      }
    } else if (entry.d_tag == DT_FLAGS && !image_.is_symbolic()) {
      entry.d_un.d_val |= DF_SYMBOLIC;
      identity_.made_symbolic = true;
    } else if (entry.d_tag == DT_FLAGS_1 &&
               (entry.d_un.d_val & kPinning) != 0) {
      entry.d_un.d_val &= ~kPinning;
      identity_.unpinned = true;
    }
    entries.push_back(entry);
  }
  if (!image_.is_symbolic() && !identity_.made_symbolic) {
    if (entries.size() == old.size() && !next_slot_is_spare())
      return fail(Code::kIncompatible, "the dynamic table of ", old.size(),
                  " entries has no room for DT_FLAGS: link the library with "
                  "-z now or -Bsymbolic");
    Elf64_Dyn flags{};
    flags.d_tag = DT_FLAGS;
    flags.d_un.d_val = DF_SYMBOLIC;
    entries.push_back(flags);
    identity_.made_symbolic = true;
  }
  // The DT_NULL that ends the table moves; those behind it are equal to it.
  entries.resize(std::max(entries.size(), old.size()) + 1, Elf64_Dyn{});
  for (std::size_t i = 0; i < entries.size(); ++i)
    put(image_.dynamic().offset() + i * sizeof(Elf64_Dyn), entries[i]);
  return ok();
}

Status Planner::edit_stack() {
  const Elf64_Phdr* stack = image_.segments().find(PT_GNU_STACK);
  if (stack == nullptr)
    return fail(Code::kIncompatible,
                "the library has no PT_GNU_STACK, so the loader would make the "
                "process's stack executable: link it with -z noexecstack");
  identity_.cleared_stack = (stack->p_flags & PF_X) != 0;
  if (identity_.cleared_stack)
    put<std::uint32_t>(image_.segments().flags_offset(PT_GNU_STACK),
                       stack->p_flags & ~std::uint32_t{PF_X});
  return ok();
}

// What one symbol is to be after the edits; `after` as it was found.
bool is_edited(const Symbol& before, const Symbol& after) {
  const bool is_renamed = before.is_import() && !keeps_name(before.name);
  const bool weakens = before.defined && before.binding == STB_GNU_UNIQUE;
  return (is_renamed ? is_renamed_to(before.name, after.name)
                     : before.name == after.name) &&
         after.version == (is_renamed ? std::string_view() : before.version) &&
         after.binding == (weakens ? STB_WEAK : before.binding) &&
         after.type == before.type && after.visibility == before.visibility &&
         after.defined == before.defined && after.value == before.value &&
         after.size == before.size;
}

// Whether an image needs no edit, judged by itself.
bool is_own(const Image& image) {
  for (const Symbol& symbol : image.symbols())
    if (symbol.is_import() ? !keeps_name(symbol.name)
                           : symbol.binding == STB_GNU_UNIQUE)
      return false;
  return image.is_symbolic() && !image.executable_stack() &&
         (image.dynamic().value_or_zero(DT_FLAGS_1) & kPinning) == 0 &&
         std::ranges::none_of(image.needed(), is_torch_library);
}

bool same_needs(const Image& before, const Image& after) {
  std::vector<std::string_view> kept;
  std::ranges::remove_copy_if(before.needed(), std::back_inserter(kept),
                              is_torch_library);
  return kept == after.needed() && before.soname() == after.soname() &&
         std::ranges::equal(before.version_needs(), after.version_needs(),
                            [](const VersionNeed& a, const VersionNeed& b) {
                              return a.file == b.file &&
                                     a.version == b.version && a.weak == b.weak;
                            });
}

}  // namespace

Result<Identity> Identity::plan(const Image& image) {
  Planner planner(image);
  BERTH_CHECK(planner.plan());
  return std::move(planner).identity();
}

Status Identity::verify(const Image& before, const Image& after) {
  const auto overlap = [](const auto&... what) {
    return fail(Code::kCorrupt, "tables of the library overlap: ", what...,
                " is not what it was edited to be");
  };
  const auto& symbols = before.symbols();
  if (symbols.size() != after.symbols().size())
    return overlap("the count of ", symbols.size(), " symbols");
  for (std::size_t i = 0; i < symbols.size(); ++i)
    if (!is_edited(symbols[i], after.symbols()[i]))
      return overlap("symbol ", i, ", '", symbols[i].name, "',");
  if (!same_needs(before, after)) return overlap("what it needs");
  const auto flags = [](const Image& image) {
    return image.dynamic().value_or_zero(DT_FLAGS_1) & ~kPinning;
  };
  if (flags(before) != flags(after)) return overlap("DT_FLAGS_1");
  if (!is_own(after)) return overlap("what it shares");
  return ok();
}

}  // namespace berth::elf
