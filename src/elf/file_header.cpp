#include "elf/file_header.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <sstream>
#include <string>

#include "elf/segments.h"

namespace berth::elf {
namespace {

std::string machine_name(std::uint16_t machine) {
  switch (machine) {
    case EM_386:
      return "32-bit x86";
    case EM_X86_64:
      return "x86-64";
    case EM_ARM:
      return "32-bit Arm";
    case EM_AARCH64:
      return "AArch64";
    case EM_RISCV:
      return "RISC-V";
    case EM_PPC64:
      return "64-bit PowerPC";
    case EM_S390:
      return "S/390";
    case EM_CUDA:
      return "NVIDIA CUDA";
    default:
      return "machine " + std::to_string(machine);
  }
}

std::string type_name(std::uint16_t type) {
  switch (type) {
    case ET_REL:
      return "an object file (ET_REL)";
    case ET_EXEC:
      return "an executable (ET_EXEC)";
    case ET_CORE:
      return "a core dump (ET_CORE)";
    default:
      return "a file of type " + std::to_string(type);
  }
}

// "23 21 2f 62 "#!/b"", so that a reader recognizes a script or an archive.
std::string described(base::Bytes bytes) {
  std::ostringstream out;
  std::string text;
  for (const std::byte byte : bytes) {
    constexpr std::array kDigits = {'0', '1', '2', '3', '4', '5', '6', '7',
                                    '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};
    const auto value = std::to_integer<unsigned>(byte);
    out << kDigits[value >> 4] << kDigits[value & 15] << ' ';
    text += value >= 0x20 && value < 0x7f ? static_cast<char>(value) : '.';
  }
  out << '"' << text << '"';
  return out.str();
}

Status check_ident(const Elf64_Ehdr& header) {
  const unsigned char* ident = header.e_ident;
  if (ident[EI_CLASS] != ELFCLASS64)
    return fail(Code::kIncompatible, "expected a 64-bit ELF file, found ",
                ident[EI_CLASS] == ELFCLASS32
                    ? std::string("a 32-bit one")
                    : "one of class " + std::to_string(ident[EI_CLASS]));
  if (ident[EI_DATA] != ELFDATA2LSB)
    return fail(Code::kIncompatible,
                "expected a little-endian ELF file, found ",
                ident[EI_DATA] == ELFDATA2MSB
                    ? std::string("a big-endian one")
                    : "one of byte order " + std::to_string(ident[EI_DATA]));
  if (ident[EI_VERSION] != EV_CURRENT || header.e_version != EV_CURRENT)
    return fail(Code::kCorrupt, "expected ELF version 1, found ",
                unsigned{ident[EI_VERSION]}, " and ", header.e_version);
  // g++ marks files with STB_GNU_UNIQUE symbols as GNU's, all others as
  // System V's; the loader takes no third.
  if (ident[EI_OSABI] != ELFOSABI_SYSV && ident[EI_OSABI] != ELFOSABI_GNU)
    return fail(Code::kIncompatible,
                "expected an ELF file for System V (0) or GNU (3), found OS ",
                unsigned{ident[EI_OSABI]});
  return ok();
}

}  // namespace

Result<Elf64_Ehdr> read_file_header(base::Bytes bytes) {
  if (bytes.empty())
    return fail(Code::kCorrupt,
                "the library is empty: expected an ELF header of ",
                sizeof(Elf64_Ehdr), " bytes, found 0");
  const base::Bytes magic =
      bytes.first(std::min<std::size_t>(bytes.size(), SELFMAG));
  if (std::memcmp(magic.data(), ELFMAG, magic.size()) != 0)
    return fail(Code::kCorrupt,
                "not an ELF file: expected 7f 45 4c 46 \".ELF\" at its start, "
                "found ",
                described(magic));
  const auto header = base::load<Elf64_Ehdr>(bytes, 0);
  if (!header)
    return fail(Code::kCorrupt, "an ELF header needs ", sizeof(Elf64_Ehdr),
                " bytes, the file has ", bytes.size());
  BERTH_CHECK(check_ident(*header));
  if (header->e_machine != kMachine)
    return fail(Code::kIncompatible, "expected code for ",
                machine_name(kMachine), ", found ",
                machine_name(header->e_machine));
  if (header->e_type != ET_DYN)
    return fail(Code::kIncompatible,
                "expected a shared object (ET_DYN), found ",
                type_name(header->e_type));
  return *header;
}

}  // namespace berth::elf
