#include "elf/identity.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "elf/hex.h"
#include "elf/renames.h"

namespace berth::elf {
namespace {

constexpr std::uint64_t kPinning = DF_1_NODELETE | DF_1_GLOBAL;

struct Edit {
  std::uint64_t offset;
  std::vector<std::byte> bytes;
};

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

  const std::vector<Edit>& edits() const { return edits_; }
  Identity identity() && { return std::move(identity_); }

 private:
  template <typename T>
  void put(std::uint64_t offset, const T& value) {
    Edit edit{offset, std::vector<std::byte>(sizeof(T))};
    std::memcpy(edit.bytes.data(), &value, sizeof(T));
    edits_.push_back(std::move(edit));
  }

  void edit_symbols();
  void rename(const Symbol& symbol, const std::string& name);
  Status check_sharing() const;
  Status check_versions() const;
  Status edit_dynamic();
  Status edit_stack();
  bool next_slot_is_spare() const;

  const Image& image_;
  Identity identity_;
  std::vector<Edit> edits_;
  // By where strings end, since those that share bytes end at the same NUL:
  // the last byte there that changes, and whose it is.
  struct Change {
    std::uint64_t last_offset = 0;
    const Symbol* import = nullptr;
  };
  std::unordered_map<std::uint64_t, Change> changes_;
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
  Change& change = changes_[symbol.name_offset + symbol.name.size()];
  if (const std::uint64_t last_offset = symbol.name_offset + last;
      change.import == nullptr || last_offset > change.last_offset)
    change = {last_offset, &symbol};
  Edit edit{image_.strings_offset() + symbol.name_offset + first,
            std::vector<std::byte>(last - first + 1)};
  std::memcpy(edit.bytes.data(), &name[first], edit.bytes.size());
  edits_.push_back(std::move(edit));
  if (image_.versions_offset() != 0)
    put<std::uint16_t>(
        image_.versions_offset() + symbol.index * sizeof(std::uint16_t),
        VER_NDX_GLOBAL);
}

// Linkers store a string that is the end of another one inside that one, so
// changing the bytes of an import may change a name that must stay.
Status Planner::check_sharing() const {
  for (const StringUse& use : image_.string_uses()) {
    const auto found = changes_.find(use.offset + use.text.size());
    if (found == changes_.end()) continue;
    const auto& [last_offset, import] = found->second;
    if (use.offset > last_offset) continue;
    if (use.offset == import->name_offset && use.is_import) continue;
    return fail(Code::kIncompatible, "import '", import->name,
                "' cannot be renamed: its bytes in the string table are also '",
                use.text, "' of ", use.by);
  }
  return ok();
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

// What the loader will know of an image, line by line; with `edited`, what it
// is to know after the edits.
std::vector<std::string> facts(const Image& image, bool edited) {
  std::vector<std::string> lines;
  for (const Symbol& symbol : image.symbols()) {
    const auto name = symbol.is_import() ? renamed(symbol.name) : std::nullopt;
    const bool weakens =
        edited && symbol.defined && symbol.binding == STB_GNU_UNIQUE;
    std::ostringstream line;
    line << (symbol.defined ? "symbol " : "import ")
         << (edited && name ? *name : std::string(symbol.name)) << '@'
         << (edited && name ? std::string_view() : symbol.version)
         << " binding " << (weakens ? int{STB_WEAK} : int{symbol.binding})
         << " type " << int{symbol.type} << " visibility "
         << int{symbol.visibility} << " at " << Hex{symbol.value} << " of "
         << symbol.size << " bytes";
    lines.push_back(std::move(line).str());
  }
  for (const std::string_view needed : image.needed())
    if (!edited || !is_torch_library(needed))
      lines.push_back("needed " + std::string(needed));
  for (const VersionNeed& need : image.version_needs())
    lines.push_back("version " + std::string(need.version) + " of " +
                    std::string(need.file));
  lines.push_back("soname " + std::string(image.soname()));
  lines.push_back(edited || image.is_symbolic() ? "symbolic" : "not symbolic");
  lines.push_back(!edited && image.executable_stack() ? "executable stack"
                                                      : "plain stack");
  const std::uint64_t flags = image.dynamic().value_or_zero(DT_FLAGS_1);
  lines.push_back("flags " +
                  std::to_string(edited ? flags & ~kPinning : flags));
  return lines;
}

Status compare(const std::vector<std::string>& expected,
               const std::vector<std::string>& found) {
  if (expected.size() != found.size())
    return fail(Code::kCorrupt, "tables of the library overlap: expected ",
                expected.size(), " facts after editing, found ", found.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (expected[i] != found[i])
      return fail(Code::kCorrupt,
                  "tables of the library overlap: expected after editing '",
                  expected[i], "', found '", found[i], "'");
  return ok();
}

}  // namespace

Result<Identity> Identity::plan(const Image& image) {
  Planner planner(image);
  BERTH_CHECK(planner.plan());
  return std::move(planner).identity();
}

Result<Identity> Identity::apply(base::MutableBytes bytes) {
  BERTH_TRY(const Image before, Image::parse(bytes));
  Planner planner(before);
  BERTH_CHECK(planner.plan());
  // Taken now, because the image's strings are views of the bytes to edit.
  const std::vector<std::string> expected = facts(before, true);
  for (const Edit& edit : planner.edits())
    std::memcpy(bytes.data() + edit.offset, edit.bytes.data(),
                edit.bytes.size());
  BERTH_TRY(const Image after,
            noted(Image::parse(bytes), "checking the edited library"));
  BERTH_CHECK(compare(expected, facts(after, false)));
  return std::move(planner).identity();
}

}  // namespace berth::elf
