// The ELF header and the program headers of a shared object: which of its bytes
// the loader maps, and at which addresses.
//
// Section headers are not read: a stripped library need not have any.
#pragma once

#include <elf.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "berth/result.h"

namespace berth::elf {

// The only machine that this build of Berth loads code for.
inline constexpr std::uint16_t kMachine = EM_X86_64;

// The addresses below are multiples of it; x86-64 Linux has no other.
inline constexpr std::uint64_t kPageSize = 4096;

// Owns     the headers; borrows the bytes given to parse().
// Threads  immutable after parse().
// Units    bytes. Addresses are relative to where the library will be mapped;
//          offsets count from the start of the file.
// Fails    kCorrupt when the headers contradict each other or the size of the
//          file, kIncompatible when they are of another kind of file or
//          machine.
class Segments {
 public:
  static Result<Segments> parse(base::Bytes bytes);

  base::Bytes bytes() const noexcept { return bytes_; }

  // The program header of this type, or null. Types of which the loader reads
  // only one are known to occur at most once.
  const Elf64_Phdr* find(std::uint32_t type) const noexcept;

  // File offset of find(type)->p_flags.
  std::uint64_t flags_offset(std::uint32_t type) const noexcept;

  // Where in the file the loader takes [address, address + size) from; fails,
  // naming `what`, when that is not within one loaded segment's file bytes.
  Result<std::uint64_t> offset_of(std::uint64_t address, std::uint64_t size,
                                  std::string_view what) const;

  // The last PT_LOAD that begins at or before `address`, or null.
  const Elf64_Phdr* load_at(std::uint64_t address) const noexcept;

  // True when [address, address + size) will be mapped, by one segment, with
  // at least these permissions (PF_R, PF_W, PF_X).
  bool is_mapped(std::uint64_t address, std::uint64_t size,
                 std::uint32_t flags) const noexcept;

 private:
  explicit Segments(base::Bytes bytes) : bytes_(bytes) {}
  Status read(const Elf64_Ehdr& header);
  Status check_loads();
  Status check_parts(const Elf64_Ehdr& header) const;
  Status check_notes(const Elf64_Phdr& notes) const;

  base::Bytes bytes_;
  std::uint64_t table_offset_ = 0;
  std::vector<Elf64_Phdr> headers_;  // All, in file order.
  std::vector<Elf64_Phdr> loads_;    // PT_LOAD, by ascending address.
};

}  // namespace berth::elf
