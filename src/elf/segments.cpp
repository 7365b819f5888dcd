#include "elf/segments.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

#include "base/checked.h"
#include "elf/file_header.h"
#include "elf/hex.h"

namespace berth::elf {
namespace {

// User space ends here on x86-64; sums of two such numbers cannot wrap.
constexpr std::uint64_t kAddressLimit = std::uint64_t{1} << 47;

// The loader ends the process when it cannot allocate a thread's block, so an
// absurd size has to be refused before. Real delegates have some 100 bytes.
constexpr std::uint64_t kTlsLimit = std::uint64_t{64} << 20;

constexpr std::uint64_t page_end(std::uint64_t address) {
  return (address + kPageSize - 1) & ~(kPageSize - 1);
}

Status check_load(const Elf64_Phdr& load, std::uint64_t file_size) {
  if (load.p_filesz > load.p_memsz)
    return fail(Code::kCorrupt, "the segment at ", Hex{load.p_vaddr}, " has ",
                load.p_filesz, " bytes in the file but ", load.p_memsz,
                " in memory");
  if (!base::fits(load.p_offset, load.p_filesz, file_size))
    return fail(Code::kCorrupt, "the segment at ", Hex{load.p_vaddr},
                " expects ", load.p_filesz, " bytes at file offset ",
                load.p_offset, ", the file has ", file_size, " bytes");
  if (!base::fits(load.p_vaddr, load.p_memsz, kAddressLimit))
    return fail(Code::kCorrupt, "the segment at ", Hex{load.p_vaddr}, " of ",
                load.p_memsz, " bytes leaves the address space");
  if (!std::has_single_bit(load.p_align) || load.p_align < kPageSize ||
      load.p_align > kAddressLimit)
    return fail(Code::kCorrupt, "the segment at ", Hex{load.p_vaddr},
                " is aligned to ", load.p_align,
                ", expected a power of two that is at least ", kPageSize);
  if (((load.p_vaddr - load.p_offset) & (load.p_align - 1)) != 0)
    return fail(Code::kCorrupt, "the segment at ", Hex{load.p_vaddr},
                " lies at file offset ", Hex{load.p_offset},
                ", which differs modulo its alignment ", Hex{load.p_align});
  return ok();
}

// Segments that are parts of loaded ones, and of which the loader or the
// unwinder reads what the file says.
struct Part {
  std::uint32_t type;
  const char* name;
  bool repeats;
};
constexpr std::array kParts = {
    Part{PT_DYNAMIC, "PT_DYNAMIC", false},
    Part{PT_TLS, "PT_TLS", false},
    Part{PT_PHDR, "PT_PHDR", false},
    Part{PT_NOTE, "PT_NOTE", true},
    Part{PT_GNU_PROPERTY, "PT_GNU_PROPERTY", false},
    Part{PT_GNU_EH_FRAME, "PT_GNU_EH_FRAME", false},
    Part{PT_GNU_STACK, "PT_GNU_STACK", false},
    Part{PT_GNU_RELRO, "PT_GNU_RELRO", false},
};

}  // namespace

Result<Segments> Segments::parse(base::Bytes bytes) {
  BERTH_TRY(const Elf64_Ehdr header, read_file_header(bytes));
  Segments segments(bytes);
  BERTH_CHECK(segments.read(header));
  BERTH_CHECK(segments.check_loads());
  BERTH_CHECK(segments.check_parts(header));
  return segments;
}

Status Segments::read(const Elf64_Ehdr& header) {
  if (header.e_phentsize != sizeof(Elf64_Phdr))
    return fail(Code::kCorrupt, "expected program headers of ",
                sizeof(Elf64_Phdr), " bytes, found ", header.e_phentsize);
  const std::uint64_t size = header.e_phnum * sizeof(Elf64_Phdr);
  if (!base::fits(header.e_phoff, size, bytes_.size()))
    return fail(Code::kCorrupt, header.e_phnum,
                " program headers do not fit at file offset ", header.e_phoff,
                " of ", bytes_.size(), " bytes");
  // Nothing else is read of the section headers, but they come last in a file:
  // that they are there shows that nobody cut it short.
  const std::uint64_t sections_size =
      std::uint64_t{header.e_shnum} * header.e_shentsize;
  if (header.e_shnum != 0 &&
      !base::fits(header.e_shoff, sections_size, bytes_.size()))
    return fail(Code::kCorrupt, "the file is cut short: ", header.e_shnum,
                " section headers are expected at file offset ", header.e_shoff,
                ", the file has ", bytes_.size(), " bytes");
  table_offset_ = header.e_phoff;
  headers_.reserve(header.e_phnum);
  for (std::uint64_t i = 0; i < header.e_phnum; ++i)
    headers_.push_back(*base::load<Elf64_Phdr>(
        bytes_, table_offset_ + i * sizeof(Elf64_Phdr)));
  return ok();
}

Status Segments::check_loads() {
  std::uint64_t end = 0;
  for (const Elf64_Phdr& load : headers_) {
    if (load.p_type != PT_LOAD) continue;
    BERTH_CHECK(check_load(load, bytes_.size()));
    // Memory is mapped by the page: of two segments in one page the later one
    // would hide the bytes of the earlier.
    if ((load.p_vaddr & ~(kPageSize - 1)) < end)
      return fail(Code::kCorrupt, "the segment at ", Hex{load.p_vaddr},
                  " begins before the previous one's last page ends at ",
                  Hex{end});
    end = page_end(load.p_vaddr + load.p_memsz);
    loads_.push_back(load);
  }
  if (loads_.empty())
    return fail(Code::kCorrupt, "no PT_LOAD segment: nothing to map");
  return ok();
}

Status Segments::check_parts(const Elf64_Ehdr& header) const {
  for (const Part& kind : kParts) {
    std::size_t seen = 0;
    for (const Elf64_Phdr& part : headers_) {
      if (part.p_type != kind.type) continue;
      if (++seen > 1 && !kind.repeats)
        return fail(Code::kCorrupt, "expected one ", kind.name,
                    ", found several");
      // These two name memory, of which part may not be in the file.
      if (kind.type == PT_GNU_STACK || kind.type == PT_GNU_RELRO) continue;
      if (part.p_filesz == 0) continue;
      BERTH_TRY(const std::uint64_t offset,
                offset_of(part.p_vaddr, part.p_filesz, kind.name));
      if (offset != part.p_offset)
        return fail(Code::kCorrupt, kind.name, " is at file offset ",
                    Hex{part.p_offset}, " but is mapped from ", Hex{offset});
      if (kind.type == PT_NOTE || kind.type == PT_GNU_PROPERTY)
        BERTH_CHECK(check_notes(part));
    }
  }
  if (const Elf64_Phdr* self = find(PT_PHDR);
      self != nullptr && (self->p_offset != header.e_phoff ||
                          self->p_filesz != header.e_phnum * sizeof(*self)))
    return fail(Code::kCorrupt, "PT_PHDR names ", self->p_filesz,
                " bytes at file offset ", self->p_offset,
                ", the program headers are elsewhere");
  if (const Elf64_Phdr* tls = find(PT_TLS);
      tls != nullptr &&
      (tls->p_filesz > tls->p_memsz || tls->p_memsz > kTlsLimit ||
       tls->p_align > kPageSize || (tls->p_align & (tls->p_align - 1)) != 0))
    return fail(Code::kCorrupt, "PT_TLS has ", tls->p_filesz,
                " bytes in the file, ", tls->p_memsz, " in memory, aligned to ",
                tls->p_align, ": no thread can be given that");
  if (const Elf64_Phdr* relro = find(PT_GNU_RELRO)) {
    // Some linkers round its end up to the page's.
    const Elf64_Phdr* load = load_at(relro->p_vaddr);
    if (relro->p_memsz != 0 &&
        (load == nullptr ||
         !base::fits(relro->p_vaddr - load->p_vaddr, relro->p_memsz,
                     page_end(load->p_vaddr + load->p_memsz) - load->p_vaddr)))
      return fail(Code::kCorrupt, "PT_GNU_RELRO at ", Hex{relro->p_vaddr},
                  " of ", relro->p_memsz, " bytes is not in one segment");
  }
  return ok();
}

// The loader reads GNU properties by the lengths that the notes state.
Status Segments::check_notes(const Elf64_Phdr& notes) const {
  const std::uint64_t align = notes.p_align == 8 ? 8 : 4;
  const auto padded = [align](std::uint64_t n) {
    return (n + align - 1) & ~(align - 1);
  };
  std::uint64_t at = 0;
  while (notes.p_filesz - at >= sizeof(Elf64_Nhdr)) {
    const auto note = *base::load<Elf64_Nhdr>(bytes_, notes.p_offset + at);
    const std::uint64_t text = sizeof(note) + std::uint64_t{note.n_namesz};
    const std::uint64_t size = padded(text) + note.n_descsz;
    if (size > notes.p_filesz - at)
      return fail(Code::kCorrupt, "the note at file offset ",
                  notes.p_offset + at, " has ", size, " bytes, of which ",
                  notes.p_filesz - at, " are there");
    at += std::min(padded(size), notes.p_filesz - at);
  }
  return ok();
}

const Elf64_Phdr* Segments::find(std::uint32_t type) const noexcept {
  for (const Elf64_Phdr& header : headers_)
    if (header.p_type == type) return &header;
  return nullptr;
}

std::uint64_t Segments::flags_offset(std::uint32_t type) const noexcept {
  const auto index = static_cast<std::uint64_t>(find(type) - headers_.data());
  return table_offset_ + index * sizeof(Elf64_Phdr) +
         offsetof(Elf64_Phdr, p_flags);
}

const Elf64_Phdr* Segments::load_at(std::uint64_t address) const noexcept {
  const auto after = std::upper_bound(
      loads_.begin(), loads_.end(), address,
      [](std::uint64_t a, const Elf64_Phdr& load) { return a < load.p_vaddr; });
  return after == loads_.begin() ? nullptr : &*(after - 1);
}

Result<std::uint64_t> Segments::offset_of(std::uint64_t address,
                                          std::uint64_t size,
                                          std::string_view what) const {
  const Elf64_Phdr* load = load_at(address);
  if (load == nullptr ||
      !base::fits(address - load->p_vaddr, size, load->p_filesz))
    return fail(Code::kCorrupt, what, " at ", Hex{address}, " of ", size,
                " bytes is not within one loaded segment");
  return load->p_offset + (address - load->p_vaddr);
}

bool Segments::is_mapped(std::uint64_t address, std::uint64_t size,
                         std::uint32_t flags) const noexcept {
  const Elf64_Phdr* load = load_at(address);
  return load != nullptr && (load->p_flags & flags) == flags &&
         base::fits(address - load->p_vaddr, size, load->p_memsz);
}

}  // namespace berth::elf
