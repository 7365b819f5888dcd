#include "elf/relocations.h"

#include <bit>

#include "base/checked.h"
#include "elf/hex.h"

namespace berth::elf {
namespace {

// Bytes that the loader writes for a relocation of this type, or -1 when it
// does not know the type. A copy relocation is for executables only.
int written_bytes(std::uint32_t type) {
  switch (type) {
    case R_X86_64_NONE:
      return 0;
    case R_X86_64_32:
    case R_X86_64_PC32:
    case R_X86_64_SIZE32:
      return 4;
    case R_X86_64_64:
    case R_X86_64_GLOB_DAT:
    case R_X86_64_JUMP_SLOT:
    case R_X86_64_RELATIVE:
    case R_X86_64_RELATIVE64:
    case R_X86_64_IRELATIVE:
    case R_X86_64_DTPMOD64:
    case R_X86_64_DTPOFF64:
    case R_X86_64_TPOFF64:
    case R_X86_64_SIZE64:
      return 8;
    case R_X86_64_TLSDESC:
      return 16;
    default:
      return -1;
  }
}

bool is_thread_local(std::uint32_t type) {
  return type == R_X86_64_DTPMOD64 || type == R_X86_64_DTPOFF64 ||
         type == R_X86_64_TPOFF64 || type == R_X86_64_TLSDESC;
}

class Checker {
 public:
  Checker(const Segments& segments, const Dynamic& dynamic,
          std::uint32_t symbol_count)
      : segments_(segments),
        // The loader makes code writable for as long as it patches it.
        flags_(has_text_relocations(dynamic) ? 0 : PF_W),
        symbol_count_(symbol_count),
        has_tls_(segments.find(PT_TLS) != nullptr) {}

  Status target(std::uint64_t address, int size, const char* table) {
    if (!has_target(address, size)) [[unlikely]]
      return fail(Code::kCorrupt, table, " has a relocation at ", Hex{address},
                  ", which is not ", flags_ == 0 ? "mapped" : "writable");
    return ok();
  }

  Status table(const Table& table, const char* name) {
    for (std::uint64_t i = 0; i < table.count; ++i) {
      const Elf64_Rela relocation = entry(table, i);
      if (!is_plain(relocation)) BERTH_CHECK(one(relocation, name));
    }
    return ok();
  }

  Elf64_Rela entry(const Table& table, std::uint64_t i) const {
    return *base::load<Elf64_Rela>(segments_.bytes(),
                                   table.offset + i * sizeof(Elf64_Rela));
  }

 private:
  // Whether it is of the kinds that nearly all are of, and sound.
  bool is_plain(const Elf64_Rela& relocation) {
    const std::uint64_t type = ELF64_R_TYPE(relocation.r_info);
    return (type == R_X86_64_RELATIVE || type == R_X86_64_JUMP_SLOT ||
            type == R_X86_64_GLOB_DAT || type == R_X86_64_64) &&
           ELF64_R_SYM(relocation.r_info) < symbol_count_ &&
           has_target(relocation.r_offset, 8);
  }

  // Most lie in the segment of the one before.
  bool has_target(std::uint64_t address, int size) {
    const auto is_in = [&](const Elf64_Phdr* load) {
      return load != nullptr && (load->p_flags & flags_) == flags_ &&
             base::fits(address - load->p_vaddr,
                        static_cast<std::uint64_t>(size), load->p_memsz);
    };
    if (is_in(latest_)) return true;
    latest_ = segments_.load_at(address);
    return is_in(latest_);
  }

  Status one(const Elf64_Rela& relocation, const char* name) {
    const auto type =
        static_cast<std::uint32_t>(ELF64_R_TYPE(relocation.r_info));
    const std::uint64_t symbol = ELF64_R_SYM(relocation.r_info);
    const int size = written_bytes(type);
    if (size < 0)
      return fail(Code::kIncompatible, name, " has a relocation of type ", type,
                  ", which shared objects for x86-64 do not have");
    if (symbol >= symbol_count_)
      return fail(Code::kCorrupt, name, " names symbol ", symbol,
                  ", the library has ", symbol_count_);
    if (type == R_X86_64_IRELATIVE &&
        !segments_.is_mapped(static_cast<std::uint64_t>(relocation.r_addend), 1,
                             PF_X))
      return fail(Code::kCorrupt, name, " has a resolver at ",
                  Hex{static_cast<std::uint64_t>(relocation.r_addend)},
                  ", which is not code");
    if (is_thread_local(type) && symbol == 0 && !has_tls_)
      return fail(Code::kCorrupt, name,
                  " has a thread-local relocation, the library has no PT_TLS");
    return target(relocation.r_offset, size, name);
  }

  const Segments& segments_;
  std::uint32_t flags_;
  std::uint32_t symbol_count_;
  bool has_tls_;
  const Elf64_Phdr* latest_ = nullptr;
};

// Relative relocations in packed form: an even word is an address, an odd one
// is a bitmap of the 63 words that follow the last address.
Status check_packed(const Segments& segments, Checker& checker,
                    const Table& table) {
  constexpr auto kName = "DT_RELR";
  std::uint64_t next = 0;
  for (std::uint64_t i = 0; i < table.count; ++i) {
    const auto word =
        *base::load<std::uint64_t>(segments.bytes(), table.offset + i * 8);
    if ((word & 1) == 0) {
      BERTH_CHECK(checker.target(word, 8, kName));
      next = word + 8;
      continue;
    }
    if (i == 0) return fail(Code::kCorrupt, "DT_RELR begins with a bitmap");
    // A bitmap spans less than a page, so what is between two writable words
    // is writable too.
    if (const std::uint64_t bits = word >> 1; bits != 0) {
      const auto first = static_cast<std::uint64_t>(std::countr_zero(bits));
      const auto last = static_cast<std::uint64_t>(63 - std::countl_zero(bits));
      for (const std::uint64_t bit : {first, last})
        BERTH_CHECK(checker.target(next + 8 * bit, 8, kName));
    }
    next += std::uint64_t{63} * 8;
  }
  return ok();
}

}  // namespace

bool has_text_relocations(const Dynamic& dynamic) noexcept {
  return dynamic.find(DT_TEXTREL).has_value() ||
         (dynamic.value_or_zero(DT_FLAGS) & DF_TEXTREL) != 0;
}

Status check_relocations(const Segments& segments, const Dynamic& dynamic,
                         std::uint32_t symbol_count) {
  // The loader asserts these two, that is, ends the process.
  if (dynamic.find(DT_RELA) && dynamic.find(DT_RELAENT) != sizeof(Elf64_Rela))
    return fail(Code::kCorrupt, "DT_RELAENT is ",
                dynamic.value_or_zero(DT_RELAENT), ", expected ",
                sizeof(Elf64_Rela));
  if (dynamic.find(DT_JMPREL) && dynamic.find(DT_PLTREL) != DT_RELA)
    return fail(Code::kCorrupt, "DT_PLTREL is ",
                dynamic.value_or_zero(DT_PLTREL), ", expected DT_RELA (",
                DT_RELA, ")");
  if (dynamic.find(DT_REL))
    return fail(Code::kIncompatible,
                "DT_REL relocations, which x86-64 does not have");
  Checker checker(segments, dynamic, symbol_count);
  BERTH_TRY(const Table data, dynamic.table(segments, "DT_RELA", DT_RELA,
                                            DT_RELASZ, sizeof(Elf64_Rela)));
  BERTH_CHECK(checker.table(data, "DT_RELA"));
  BERTH_TRY(const Table calls, dynamic.table(segments, "DT_JMPREL", DT_JMPREL,
                                             DT_PLTRELSZ, sizeof(Elf64_Rela)));
  BERTH_CHECK(checker.table(calls, "DT_JMPREL"));
  BERTH_TRY(const Table packed,
            dynamic.table(segments, "DT_RELR", DT_RELR, DT_RELRSZ, 8));
  BERTH_CHECK(check_packed(segments, checker, packed));

  // The first DT_RELACOUNT relocations are taken for relative ones unseen.
  const std::uint64_t relative = dynamic.value_or_zero(DT_RELACOUNT);
  if (relative > data.count)
    return fail(Code::kCorrupt, "DT_RELACOUNT is ", relative, ", DT_RELA has ",
                data.count, " relocations");
  for (std::uint64_t i = 0; i < relative; ++i)
    if (const auto type = ELF64_R_TYPE(checker.entry(data, i).r_info);
        type != R_X86_64_RELATIVE && type != R_X86_64_RELATIVE64)
      return fail(Code::kCorrupt, "relocation ", i, " is of type ", type,
                  ", DT_RELACOUNT says that it is relative");
  return ok();
}

Status check_initializers(const Segments& segments, const Dynamic& dynamic) {
  for (const std::int64_t tag : {DT_INIT, DT_FINI})
    if (const auto address = dynamic.find(tag);
        address && !segments.is_mapped(*address, 1, PF_X))
      return fail(Code::kCorrupt, tag == DT_INIT ? "DT_INIT" : "DT_FINI",
                  " is at ", Hex{*address}, ", which is not code");
  BERTH_CHECK(dynamic.table(segments, "DT_INIT_ARRAY", DT_INIT_ARRAY,
                            DT_INIT_ARRAYSZ, 8));
  BERTH_CHECK(dynamic.table(segments, "DT_FINI_ARRAY", DT_FINI_ARRAY,
                            DT_FINI_ARRAYSZ, 8));
  // Its first three words are the loader's.
  if (const auto address = dynamic.find(DT_PLTGOT);
      address && !segments.is_mapped(*address, 24, PF_W))
    return fail(Code::kCorrupt, "DT_PLTGOT is at ", Hex{*address},
                ", which is not writable");
  return ok();
}

}  // namespace berth::elf
