// Numbers as ELF tools print them, for error sentences.
#pragma once

#include <cstdint>
#include <ios>
#include <ostream>

namespace berth::elf {

struct Hex {
  std::uint64_t value;
};

inline std::ostream& operator<<(std::ostream& out, Hex hex) {
  const auto flags = out.flags();
  out << "0x" << std::hex << hex.value;
  out.flags(flags);
  return out;
}

}  // namespace berth::elf
