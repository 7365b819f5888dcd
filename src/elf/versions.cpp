#include "elf/versions.h"

#include "elf/hex.h"

namespace berth::elf {
namespace {

// The top bit of an index says that the version is not the default one.
constexpr std::uint16_t kIndexMask = 0x7fff;

// Names of one definition: its own and those it inherits from. Each is a step
// of 8 bytes, so a file could otherwise claim as many as it has bytes, for
// every definition.
constexpr std::uint16_t kMostNames = 64;

}  // namespace

// Reads entries of tables that are chained by distances in bytes. Distances
// only lead forward, so every walk ends.
struct Versions::Reader {
  const Segments& segments;
  const StringTable& strings;

  template <typename T>
  Result<T> at(std::uint64_t address, const char* what) const {
    BERTH_TRY(const std::uint64_t offset,
              segments.offset_of(address, sizeof(T), what));
    return *base::load<T>(segments.bytes(), offset);
  }
};

Result<Versions> Versions::parse(const Segments& segments,
                                 const Dynamic& dynamic,
                                 const StringTable& strings,
                                 std::uint32_t symbol_count) {
  Versions versions;
  const Reader reader{segments, strings};
  const auto needs = dynamic.find(DT_VERNEED);
  const auto definitions = dynamic.find(DT_VERDEF);
  const auto indices = dynamic.find(DT_VERSYM);
  // The loader follows each of these through the others, unchecked.
  if ((needs || definitions) != indices.has_value())
    return fail(Code::kCorrupt,
                "DT_VERSYM needs DT_VERNEED or DT_VERDEF, and they need it; "
                "found only ",
                indices ? "DT_VERSYM" : "the others");
  if (!indices) return versions;
  if (needs)
    BERTH_CHECK(versions.read_needs(reader, *needs,
                                    dynamic.value_or_zero(DT_VERNEEDNUM)));
  if (definitions)
    BERTH_CHECK(versions.read_definitions(reader, *definitions,
                                          dynamic.value_or_zero(DT_VERDEFNUM)));
  BERTH_CHECK(versions.read_indices(segments, *indices, symbol_count));
  return versions;
}

Status Versions::define(std::uint16_t index, std::string_view name) {
  if (index <= VER_NDX_GLOBAL || index > kIndexMask || name.empty())
    return fail(Code::kCorrupt, "version '", name, "' has index ", index,
                ", expected a name and 2 to ", kIndexMask);
  if (index >= names_.size()) names_.resize(index + std::size_t{1});
  if (!names_[index].empty())
    return fail(Code::kCorrupt, "version index ", index, " means both '",
                names_[index], "' and '", name, "'");
  names_[index] = name;
  return ok();
}

Status Versions::read_needs(const Reader& reader, std::uint64_t address,
                            std::uint64_t count) {
  constexpr auto kName = "DT_VERNEED";
  if (count == 0) return fail(Code::kCorrupt, "DT_VERNEEDNUM is 0");
  for (std::uint64_t i = 0; i < count; ++i) {
    BERTH_TRY(const auto need, reader.at<Elf64_Verneed>(address, kName));
    BERTH_TRY(const std::string_view file,
              reader.strings.at(need.vn_file, kName));
    if (need.vn_version != VER_NEED_CURRENT || need.vn_cnt == 0)
      return fail(Code::kCorrupt, "DT_VERNEED entry ", i, " has format ",
                  need.vn_version, " and ", need.vn_cnt,
                  " versions, expected format 1 and at least one version");
    uses_.push_back({kName, need.vn_file, file});
    std::uint64_t at = address + need.vn_aux;
    for (std::uint16_t j = 0; j < need.vn_cnt; ++j) {
      BERTH_TRY(const auto version, reader.at<Elf64_Vernaux>(at, kName));
      BERTH_TRY(const std::string_view name,
                reader.strings.at(version.vna_name, kName));
      BERTH_CHECK(define(version.vna_other & kIndexMask, name));
      uses_.push_back({kName, version.vna_name, name});
      needs_.push_back({file, name, (version.vna_flags & VER_FLG_WEAK) != 0});
      if ((version.vna_next == 0) != (j + 1 == need.vn_cnt))
        return fail(Code::kCorrupt, "DT_VERNEED entry ", i, " of '", file,
                    "' has ", need.vn_cnt, " versions, its chain has ",
                    version.vna_next == 0 ? "fewer" : "more");
      at += version.vna_next;
    }
    if ((need.vn_next == 0) != (i + 1 == count))
      return fail(Code::kCorrupt, "DT_VERNEEDNUM is ", count,
                  ", the chain has ", need.vn_next == 0 ? "fewer" : "more");
    address += need.vn_next;
  }
  return ok();
}

Status Versions::read_definitions(const Reader& reader, std::uint64_t address,
                                  std::uint64_t count) {
  constexpr auto kName = "DT_VERDEF";
  if (count == 0) return fail(Code::kCorrupt, "DT_VERDEFNUM is 0");
  for (std::uint64_t i = 0; i < count; ++i) {
    BERTH_TRY(const auto definition, reader.at<Elf64_Verdef>(address, kName));
    if (definition.vd_version != VER_DEF_CURRENT || definition.vd_cnt == 0 ||
        definition.vd_cnt > kMostNames)
      return fail(Code::kCorrupt, "DT_VERDEF entry ", i, " has format ",
                  definition.vd_version, " and ", definition.vd_cnt,
                  " names, expected format 1 and 1 to ", kMostNames, " names");
    std::uint64_t at = address + definition.vd_aux;
    for (std::uint16_t j = 0; j < definition.vd_cnt; ++j) {
      BERTH_TRY(const auto name, reader.at<Elf64_Verdaux>(at, kName));
      BERTH_TRY(const std::string_view text,
                reader.strings.at(name.vda_name, kName));
      uses_.push_back({kName, name.vda_name, text});
      // The base definition names the file itself, with the index that means
      // no version.
      if (j == 0 && (definition.vd_flags & VER_FLG_BASE) == 0)
        BERTH_CHECK(define(definition.vd_ndx, text));
      at += name.vda_next;
    }
    if ((definition.vd_next == 0) != (i + 1 == count))
      return fail(Code::kCorrupt, "DT_VERDEFNUM is ", count, ", the chain has ",
                  definition.vd_next == 0 ? "fewer" : "more");
    address += definition.vd_next;
  }
  return ok();
}

Status Versions::read_indices(const Segments& segments, std::uint64_t address,
                              std::uint32_t symbol_count) {
  BERTH_TRY(offset_,
            segments.offset_of(address, std::uint64_t{2} * symbol_count,
                               "DT_VERSYM"));
  indices_.reserve(symbol_count);
  for (std::uint64_t i = 0; i < symbol_count; ++i) {
    const auto index = static_cast<std::uint16_t>(
        *base::load<std::uint16_t>(segments.bytes(), offset_ + 2 * i) &
        kIndexMask);
    if (index > VER_NDX_GLOBAL && name_of(index).empty())
      return fail(Code::kCorrupt, "symbol ", i, " has version index ", index,
                  ", which no table defines");
    indices_.push_back(index);
  }
  return ok();
}

}  // namespace berth::elf
