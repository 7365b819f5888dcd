#include "elf/segments.h"

#include "elf/elf_testing.h"

namespace berth::elf {
namespace {

using namespace elf::testing;  // NOLINT: this room's own helpers

constexpr std::size_t kOffset = offsetof(Elf64_Phdr, p_offset);
constexpr std::size_t kAddress = offsetof(Elf64_Phdr, p_vaddr);
constexpr std::size_t kFileSize = offsetof(Elf64_Phdr, p_filesz);
constexpr std::size_t kMemorySize = offsetof(Elf64_Phdr, p_memsz);
constexpr std::size_t kAlign = offsetof(Elf64_Phdr, p_align);

const Spoiled kSpoiled[] = {
    {"Empty", [](Bytes& b) { b.clear(); }, Code::kCorrupt, "is empty"},
    {"OneByteShort", [](Bytes& b) { b.resize(63); }, Code::kCorrupt,
     "needs 64 bytes, the file has 63"},
    {"Script",
     [](Bytes& b) {
       b = {std::byte{'#'}, std::byte{'!'}, std::byte{'/'}, std::byte{'b'}};
     },
     Code::kCorrupt, "found 23 21 2f 62 \"#!/b\""},
    {"ThirtyTwoBit", [](Bytes& b) { put<std::uint8_t>(b, EI_CLASS, 1); },
     Code::kIncompatible, "expected a 64-bit ELF file, found a 32-bit"},
    {"BigEndian", [](Bytes& b) { put<std::uint8_t>(b, EI_DATA, 2); },
     Code::kIncompatible, "big-endian"},
    {"OtherVersion", [](Bytes& b) { put<std::uint8_t>(b, EI_VERSION, 9); },
     Code::kCorrupt, "version 1, found 9"},
    {"OtherSystem", [](Bytes& b) { put<std::uint8_t>(b, EI_OSABI, 9); },
     Code::kIncompatible, "found OS 9"},
    {"Arm", [](Bytes& b) { put<std::uint16_t>(b, 18, EM_AARCH64); },
     Code::kIncompatible, "expected code for x86-64, found AArch64"},
    {"UnknownMachine", [](Bytes& b) { put<std::uint16_t>(b, 18, 999); },
     Code::kIncompatible, "found machine 999"},
    {"ObjectFile", [](Bytes& b) { put<std::uint16_t>(b, 16, ET_REL); },
     Code::kIncompatible, "found an object file"},
    {"Executable", [](Bytes& b) { set_value(b, DT_FLAGS_1, DF_1_PIE); },
     Code::kIncompatible, "found an executable"},
    {"HeaderTableWraps", [](Bytes& b) { put<std::uint64_t>(b, 32, ~0ull - 8); },
     Code::kCorrupt, "do not fit"},
    {"HeadersOfOtherSize", [](Bytes& b) { put<std::uint16_t>(b, 54, 32); },
     Code::kCorrupt, "program headers of 56 bytes, found 32"},
    {"SectionHeadersCutOff", [](Bytes& b) { put<std::uint16_t>(b, 60, 40); },
     Code::kCorrupt, "cut short"},
    {"NothingToLoad", [](Bytes& b) { put<std::uint16_t>(b, 56, 0); },
     Code::kCorrupt, "nothing to map"},
    {"SegmentOffsetWraps",
     [](Bytes& b) { set_header(b, PT_LOAD, kOffset, ~0ull - 8); },
     Code::kCorrupt, "at file offset"},
    {"SegmentTooLong",
     [](Bytes& b) {
       set_header(b, PT_LOAD, kFileSize, b.size() + 1);
       set_header(b, PT_LOAD, kMemorySize, b.size() + 1);
     },
     Code::kCorrupt, "expects 1753 bytes"},
    {"MoreInTheFileThanInMemory",
     [](Bytes& b) { set_header(b, PT_LOAD, kMemorySize, 1); }, Code::kCorrupt,
     "1 in memory"},
    {"AddressWraps",
     [](Bytes& b) { set_header(b, PT_LOAD, kAddress, ~0ull << 12, 1); },
     Code::kCorrupt, "leaves the address space"},
    {"SegmentsOverlap",
     [](Bytes& b) { set_header(b, PT_LOAD, kAddress, 0x500, 1); },
     Code::kCorrupt, "begins before"},
    {"OddAlignment", [](Bytes& b) { set_header(b, PT_LOAD, kAlign, 0x1001); },
     Code::kCorrupt, "power of two"},
    {"MisplacedSegment",
     [](Bytes& b) { set_header(b, PT_LOAD, kAddress, 0x1508, 1); },
     Code::kCorrupt, "modulo its alignment"},
    {"TwoDynamicTables",
     [](Bytes& b) { put<std::uint32_t>(b, header_at(b, PT_NOTE), PT_DYNAMIC); },
     Code::kCorrupt, "expected one PT_DYNAMIC"},
    {"NoDynamicTable",
     [](Bytes& b) { put<std::uint32_t>(b, header_at(b, PT_DYNAMIC), PT_NULL); },
     Code::kIncompatible, "no dynamic table"},
    {"DynamicTableElsewhere",
     [](Bytes& b) { set_header(b, PT_DYNAMIC, kAddress, 0x9000); },
     Code::kCorrupt, "PT_DYNAMIC at 0x9000"},
    {"DynamicTableAtTwoPlaces",
     [](Bytes& b) { set_header(b, PT_DYNAMIC, kOffset, 0x500); },
     Code::kCorrupt, "is mapped from"},
    {"DynamicTableWithoutEnd",
     [](Bytes& b) { set_header(b, PT_DYNAMIC, kFileSize, 64); }, Code::kCorrupt,
     "has no DT_NULL"},
    {"DynamicTableReadOnly",
     [](Bytes& b) {
       put<std::uint32_t>(b, header_at(b, PT_LOAD, 1) + 4, PF_R);
     },
     Code::kCorrupt, "is writable, its segment is not"},
    {"TagTwice",
     [](Bytes& b) { put<std::uint64_t>(b, entry_at(b, DT_SONAME), DT_STRTAB); },
     Code::kCorrupt, "tag 0x5 more than once"},
    {"EndlessNote",
     [](Bytes& b) {
       const auto note = get<Elf64_Phdr>(b, header_at(b, PT_NOTE));
       put<std::uint32_t>(b, note.p_offset + 4, ~0u);
     },
     Code::kCorrupt, "the note at"},
    {"HugeThreadLocals",
     [](Bytes& b) { set_header(b, PT_TLS, kMemorySize, 1ull << 40); },
     Code::kCorrupt, "PT_TLS"},
};

class SegmentsReject : public ::testing::TestWithParam<Spoiled> {};

TEST_P(SegmentsReject, WithCodeAndReason) { expect_refusal(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Table, SegmentsReject, ::testing::ValuesIn(kSpoiled),
                         [](const auto& row) {
                           return std::string(row.param.name);
                         });

}  // namespace
}  // namespace berth::elf
