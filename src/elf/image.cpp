#include "elf/image.h"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "elf/relocations.h"
#include "elf/symbol_hash.h"

namespace berth::elf {
namespace {

struct StringTag {
  std::int64_t tag;
  const char* name;
};
constexpr std::array kStringTags = {
    StringTag{DT_NEEDED, "DT_NEEDED"},
    StringTag{DT_SONAME, "DT_SONAME"},
    StringTag{DT_RPATH, "DT_RPATH"},
    StringTag{DT_RUNPATH, "DT_RUNPATH"},
    StringTag{DT_AUXILIARY, "DT_AUXILIARY"},
    StringTag{DT_FILTER, "DT_FILTER"},
    StringTag{DT_CONFIG, "DT_CONFIG"},
    StringTag{DT_AUDIT, "DT_AUDIT"},
    StringTag{DT_DEPAUDIT, "DT_DEPAUDIT"},
};

}  // namespace

Result<Image> Image::parse(base::Bytes bytes) {
  BERTH_TRY(Segments segments, Segments::parse(bytes));
  BERTH_TRY(Dynamic dynamic, Dynamic::parse(segments));
  Image image(std::move(segments), std::move(dynamic));
  if ((image.dynamic_.value_or_zero(DT_FLAGS_1) & DF_1_PIE) != 0)
    return fail(Code::kIncompatible,
                "expected a shared object, found an executable (DF_1_PIE)");
  StringTable strings;
  BERTH_CHECK(image.read_strings(&strings));
  BERTH_TRY(const std::uint32_t count,
            count_symbols(image.segments_, image.dynamic_));
  BERTH_TRY(image.versions_,
            Versions::parse(image.segments_, image.dynamic_, strings, count));
  BERTH_CHECK(image.check_version_files());
  BERTH_TRY(image.symbols_,
            SymbolTable::parse(image.segments_, image.dynamic_, strings,
                               image.versions_, count));
  BERTH_CHECK(check_relocations(image.segments_, image.dynamic_, count));
  BERTH_CHECK(check_initializers(image.segments_, image.dynamic_));
  return image;
}

Status Image::read_strings(StringTable* strings) {
  const std::uint64_t size = dynamic_.value_or_zero(DT_STRSZ);
  const auto address = dynamic_.find(DT_STRTAB);
  if (!address)
    return fail(Code::kCorrupt, "the dynamic table has no DT_STRTAB");
  BERTH_TRY(strings_offset_, segments_.offset_of(*address, size, "DT_STRTAB"));
  BERTH_TRY(*strings, StringTable::parse(
                          segments_.bytes().subspan(strings_offset_, size)));
  for (const Elf64_Dyn& entry : dynamic_.entries()) {
    const auto* tag =
        std::find_if(kStringTags.begin(), kStringTags.end(),
                     [&](const StringTag& t) { return t.tag == entry.d_tag; });
    if (tag == kStringTags.end()) continue;
    BERTH_TRY(const std::string_view text,
              strings->at(entry.d_un.d_val, tag->name));
    dynamic_uses_.push_back({tag->name, entry.d_un.d_val, text});
    if (tag->tag == DT_NEEDED) needed_.push_back(text);
    if (tag->tag == DT_SONAME) soname_ = text;
  }
  return ok();
}

// The loader looks for the file of a version among the libraries that it has
// loaded, and relies on finding it.
Status Image::check_version_files() const {
  const std::unordered_set<std::string_view> files(needed_.begin(),
                                                   needed_.end());
  for (const VersionNeed& need : versions_.needs())
    if (files.count(need.file) == 0)
      return fail(Code::kCorrupt, "version '", need.version, "' is needed of '",
                  need.file, "', which DT_NEEDED does not name");
  return ok();
}

std::vector<Symbol> Image::imports() const {
  std::vector<Symbol> imports;
  for (const Symbol& symbol : symbols())
    if (symbol.is_import()) imports.push_back(symbol);
  return imports;
}

const Symbol* Image::find_export(std::string_view name) const noexcept {
  for (const Symbol& symbol : symbols())
    if (symbol.name == name && symbol.is_exported()) return &symbol;
  return nullptr;
}

bool Image::executable_stack() const noexcept {
  const Elf64_Phdr* stack = segments_.find(PT_GNU_STACK);
  return stack == nullptr || (stack->p_flags & PF_X) != 0;
}

std::uint64_t Image::tls_size() const noexcept {
  const Elf64_Phdr* tls = segments_.find(PT_TLS);
  return tls == nullptr ? 0 : tls->p_memsz;
}

bool Image::has_text_relocations() const noexcept {
  return elf::has_text_relocations(dynamic_);
}

bool Image::is_symbolic() const noexcept {
  return dynamic_.find(DT_SYMBOLIC).has_value() ||
         (dynamic_.value_or_zero(DT_FLAGS) & DF_SYMBOLIC) != 0;
}

}  // namespace berth::elf
