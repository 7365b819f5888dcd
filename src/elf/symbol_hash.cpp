#include "elf/symbol_hash.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

namespace berth::elf {
namespace {

struct GnuHeader {
  std::uint32_t bucket_count;
  std::uint32_t first_symbol;  // Symbols before it are not in the table.
  std::uint32_t filter_words;
  std::uint32_t filter_shift;
};

struct SysvHeader {
  std::uint32_t bucket_count;
  std::uint32_t chain_count;
};

std::uint32_t word_at(const Segments& segments, std::uint64_t offset) {
  return *base::load<std::uint32_t>(segments.bytes(), offset);
}

Result<std::uint32_t> count_gnu(const Segments& segments,
                                std::uint64_t address) {
  constexpr auto kName = "DT_GNU_HASH";
  BERTH_TRY(const std::uint64_t offset,
            segments.offset_of(address, sizeof(GnuHeader), kName));
  const auto header = *base::load<GnuHeader>(segments.bytes(), offset);
  if (!std::has_single_bit(header.filter_words))
    return fail(Code::kCorrupt, "DT_GNU_HASH has a filter of ",
                header.filter_words, " words, expected a power of two");
  if (header.filter_shift >= 64)
    return fail(Code::kCorrupt, "DT_GNU_HASH shifts by ", header.filter_shift,
                ", expected less than 64");
  const std::uint64_t buckets =
      sizeof(GnuHeader) + std::uint64_t{8} * header.filter_words;
  const std::uint64_t chains = buckets + std::uint64_t{4} * header.bucket_count;
  BERTH_CHECK(segments.offset_of(address, chains, kName));

  // Chains lie one after the other in the order of their buckets' symbols, so
  // the symbols end where the chain of the greatest one does.
  std::uint64_t last = 0;
  for (std::uint32_t i = 0; i < header.bucket_count; ++i) {
    const std::uint32_t start =
        word_at(segments, offset + buckets + std::uint64_t{4} * i);
    if (start == 0) continue;
    if (start < header.first_symbol)
      return fail(Code::kCorrupt, "DT_GNU_HASH begins a chain at symbol ",
                  start, ", its first symbol is ", header.first_symbol);
    last = std::max<std::uint64_t>(last, start);
  }
  if (last == 0)
    return fail(Code::kIncompatible, "the library exports nothing");
  while (true) {
    const std::uint64_t at = chains + 4 * (last - header.first_symbol);
    BERTH_TRY(const std::uint64_t here,
              segments.offset_of(address + at, 4, "a chain of DT_GNU_HASH"));
    if ((word_at(segments, here) & 1) != 0) break;
    ++last;
  }
  if (last >= std::numeric_limits<std::uint32_t>::max())
    return fail(Code::kCorrupt, "DT_GNU_HASH has too many symbols");
  return static_cast<std::uint32_t>(last + 1);
}

Result<std::uint32_t> count_sysv(const Segments& segments,
                                 std::uint64_t address) {
  constexpr auto kName = "DT_HASH";
  BERTH_TRY(std::uint64_t offset,
            segments.offset_of(address, sizeof(SysvHeader), kName));
  const auto header = *base::load<SysvHeader>(segments.bytes(), offset);
  const std::uint64_t words =
      std::uint64_t{header.bucket_count} + header.chain_count;
  BERTH_CHECK(segments.offset_of(address, sizeof(header) + 4 * words, kName));
  offset += sizeof(header);
  const std::uint64_t chains = offset + std::uint64_t{4} * header.bucket_count;
  // A symbol is in one chain only, so a second visit means that two chains meet
  // or that one bites its tail.
  std::vector<bool> visited(header.chain_count);
  for (std::uint32_t i = 0; i < header.bucket_count; ++i) {
    std::uint32_t symbol = word_at(segments, offset + std::uint64_t{4} * i);
    while (symbol != STN_UNDEF) {
      if (symbol >= header.chain_count)
        return fail(Code::kCorrupt, "DT_HASH has ", header.chain_count,
                    " symbols, a chain names symbol ", symbol);
      if (visited[symbol])
        return fail(Code::kCorrupt, "DT_HASH visits symbol ", symbol,
                    " twice: a chain never ends");
      visited[symbol] = true;
      symbol = word_at(segments, chains + std::uint64_t{4} * symbol);
    }
  }
  return header.chain_count;
}

}  // namespace

Result<std::uint32_t> count_symbols(const Segments& segments,
                                    const Dynamic& dynamic) {
  const auto gnu = dynamic.find(DT_GNU_HASH);
  const auto sysv = dynamic.find(DT_HASH);
  if (!gnu && !sysv)
    return fail(Code::kIncompatible,
                "the library has neither DT_GNU_HASH nor DT_HASH: its symbols "
                "cannot be found");
  if (!gnu) return count_sysv(segments, *sysv);
  BERTH_TRY(const std::uint32_t count, count_gnu(segments, *gnu));
  if (!sysv) return count;
  BERTH_TRY(const std::uint32_t sysv_count, count_sysv(segments, *sysv));
  if (count != sysv_count)
    return fail(Code::kCorrupt, "DT_GNU_HASH ends at symbol ", count,
                ", DT_HASH at ", sysv_count);
  return count;
}

}  // namespace berth::elf
