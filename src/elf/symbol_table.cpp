#include "elf/symbol_table.h"

#include "base/checked.h"
#include "elf/hex.h"

namespace berth::elf {
namespace {

// The loader calls resolvers (STT_GNU_IFUNC) while it links, and Berth calls
// functions: both must at least be code.
bool needs_check(const Symbol& symbol) {
  return symbol.defined && (symbol.type == STT_TLS || symbol.type == STT_FUNC ||
                            symbol.type == STT_GNU_IFUNC);
}

Status check_value(const Segments& segments, const Symbol& symbol,
                   std::uint16_t section) {
  if (section == SHN_ABS) return ok();
  if (symbol.type == STT_TLS) {
    const Elf64_Phdr* tls = segments.find(PT_TLS);
    if (tls == nullptr || !base::fits(symbol.value, symbol.size, tls->p_memsz))
      return fail(Code::kCorrupt, "thread-local symbol '", symbol.name, "' at ",
                  Hex{symbol.value}, " is outside the library's ",
                  tls == nullptr ? 0 : tls->p_memsz, " thread-local bytes");
    return ok();
  }
  if (!segments.is_mapped(symbol.value, 1, PF_X))
    return fail(Code::kCorrupt, "function '", symbol.name, "' at ",
                Hex{symbol.value}, " is outside the library's code");
  return ok();
}

}  // namespace

bool Symbol::is_exported() const noexcept {
  return defined && !name.empty() &&
         (binding == STB_GLOBAL || binding == STB_WEAK ||
          binding == STB_GNU_UNIQUE) &&
         (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

Result<SymbolTable> SymbolTable::parse(const Segments& segments,
                                       const Dynamic& dynamic,
                                       const StringTable& strings,
                                       const Versions& versions,
                                       std::uint32_t count) {
  const auto address = dynamic.find(DT_SYMTAB);
  const auto entry_size = dynamic.find(DT_SYMENT);
  if (!address || entry_size != sizeof(Elf64_Sym))
    return fail(Code::kCorrupt, "expected DT_SYMTAB, and DT_SYMENT of ",
                sizeof(Elf64_Sym), " bytes, found ",
                address ? "DT_SYMENT of " : "no DT_SYMTAB, and DT_SYMENT of ",
                entry_size.value_or(0));
  SymbolTable table;
  BERTH_TRY(
      table.offset_,
      segments.offset_of(*address, sizeof(Elf64_Sym) * std::uint64_t{count},
                         "DT_SYMTAB"));
  table.symbols_.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto entry = *base::load<Elf64_Sym>(
        segments.bytes(), table.offset_ + i * sizeof(Elf64_Sym));
    Symbol symbol;
    if (!strings.has(entry.st_name)) [[unlikely]] {
      BERTH_TRY(symbol.name, strings.at(entry.st_name, "DT_SYMTAB"));
    }
    symbol.name = strings[entry.st_name];
    symbol.version_index = versions.index_of(i);
    symbol.version = versions.name_of(symbol.version_index);
    symbol.value = entry.st_value;
    symbol.size = entry.st_size;
    symbol.index = i;
    symbol.name_offset = entry.st_name;
    symbol.binding = ELF64_ST_BIND(entry.st_info);
    symbol.type = ELF64_ST_TYPE(entry.st_info);
    symbol.visibility = ELF64_ST_VISIBILITY(entry.st_other);
    symbol.defined = entry.st_shndx != SHN_UNDEF;
    if (needs_check(symbol))
      BERTH_CHECK(check_value(segments, symbol, entry.st_shndx));
    table.symbols_.push_back(symbol);
  }
  return table;
}

}  // namespace berth::elf
