#include "elf/image.h"

#include <link.h>

#include <algorithm>
#include <map>
#include <random>

#include "elf/elf_testing.h"

namespace berth::elf {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace elf::testing;  // NOLINT: this room's own helpers

std::vector<std::string> names(const std::vector<Symbol>& symbols) {
  std::vector<std::string> names;
  for (const Symbol& symbol : symbols) names.emplace_back(symbol.name);
  return names;
}

TEST(Image, ReadsALibraryWithoutSectionHeaders) {
  const Bytes bytes = seed();
  const auto image = Image::parse(bytes);
  ASSERT_TRUE(image.has_value()) << image.error();
  EXPECT_THAT(image->needed(), ElementsAre("libtorch_cpu.so", "libc.so.6"));
  EXPECT_EQ(image->soname(), "seed.so");
  EXPECT_EQ(image->symbols().size(), 8u);
  EXPECT_THAT(names(image->imports()),
              ElementsAre("aoti_torch_cpu_topk", "getenv",
                          "__cxa_thread_atexit", "Sleef_expf8_u10"));
  EXPECT_EQ(image->symbols()[2].version, "GLIBC_2.2.5");
  EXPECT_EQ(image->symbols()[6].binding, STB_GNU_UNIQUE);
  ASSERT_EQ(image->version_needs().size(), 1u);
  EXPECT_EQ(image->version_needs()[0].file, "libc.so.6");
  EXPECT_TRUE(image->executable_stack());
  EXPECT_EQ(image->tls_size(), 4u);
  EXPECT_FALSE(image->is_symbolic());
  EXPECT_FALSE(image->has_text_relocations());
  EXPECT_NE(image->find_export("AOTInductorModelContainerRun"), nullptr);
  EXPECT_EQ(image->find_export("getenv"), nullptr);
  EXPECT_EQ(image->find_export(""), nullptr);
}

TEST(Image, ReadsWhatACompilerMakes) {
  const Bytes bytes = fake("elf_delegate");
  const auto image = Image::parse(bytes);
  ASSERT_TRUE(image.has_value()) << image.error();
  EXPECT_THAT(image->needed(), Contains("libtorch_cpu.so"));
  EXPECT_TRUE(image->executable_stack());
  EXPECT_GT(image->tls_size(), 0u);
  EXPECT_THAT(names(image->imports()), Contains("__cxa_thread_atexit"));
  const auto unique = [](const Symbol& symbol) {
    return symbol.defined && symbol.binding == STB_GNU_UNIQUE;
  };
  EXPECT_TRUE(
      std::any_of(image->symbols().begin(), image->symbols().end(), unique));
  const Bytes patched = fake("elf_text_relocations");
  const auto text = Image::parse(patched);
  ASSERT_TRUE(text.has_value()) << text.error();
  EXPECT_TRUE(text->has_text_relocations());
}

// Every library that this process has loaded, read by binutils as well.
TEST(Image, AgreesWithReadelfAboutEveryLoadedLibrary) {
  if (readelf("--version", "").empty()) GTEST_SKIP() << "no readelf here";
  std::vector<std::string> paths = {fake_path("elf_plain"),
                                    fake_path("elf_delegate")};
  ::dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* out) {
        if (library->dlpi_name[0] == '/')
          static_cast<std::vector<std::string>*>(out)->push_back(
              library->dlpi_name);
        return 0;
      },
      &paths);
  ASSERT_GT(paths.size(), 4u);
  const std::map<std::string, int> kBindings = {{"LOCAL", STB_LOCAL},
                                                {"GLOBAL", STB_GLOBAL},
                                                {"WEAK", STB_WEAK},
                                                {"UNIQUE", STB_GNU_UNIQUE}};
  for (const std::string& path : paths) {
    const Bytes bytes = read_bytes(path);
    const auto image = Image::parse(bytes);
    ASSERT_TRUE(image.has_value()) << path << ": " << image.error();
    std::vector<std::string> needed;
    for (const auto& words : readelf("-d", path))
      if (words.size() == 5 && words[1] == "(NEEDED)")
        needed.push_back(words[4].substr(1, words[4].size() - 2));
    EXPECT_EQ(std::vector<std::string>(image->needed().begin(),
                                       image->needed().end()),
              needed)
        << path;
    std::size_t count = 0;
    for (const auto& words : readelf("--dyn-syms", path)) {
      // "12: 0000000000001130 11 FUNC GLOBAL DEFAULT 9 name@VERSION (2)"
      if (words.size() < 7 || words[0].back() != ':' || words[0] == "Num:")
        continue;
      ASSERT_EQ(words[0], std::to_string(count) + ":") << path;
      ASSERT_LT(count, image->symbols().size()) << path;
      const Symbol& symbol = image->symbols()[count++];
      EXPECT_EQ(std::stoull(words[1], nullptr, 16), symbol.value);
      EXPECT_EQ(std::stoull(words[2], nullptr, 0), symbol.size);
      EXPECT_EQ(kBindings.at(words[4]), symbol.binding);
      EXPECT_EQ(words[6] != "UND", symbol.defined);
      const std::string name = words.size() > 7 ? words[7] : "";
      EXPECT_EQ(name.substr(0, name.find('@')), symbol.name);
      // A version definition's own symbol is printed without its version.
      if (name.find('@') != std::string::npos) {
        EXPECT_EQ(name.substr(name.rfind('@') + 1), symbol.version) << path;
      }
    }
    EXPECT_EQ(count, image->symbols().size()) << path;
  }
}

TEST(Image, RefusesALibraryThatIsCutShortAnywhere) {
  for (const char* name : {"elf_delegate", "elf_plain"}) {
    const Bytes whole = fake(name);
    ASSERT_TRUE(Image::parse(whole).has_value());
    for (std::size_t i = 0; i < 64; ++i) {
      const std::size_t size = whole.size() * i / 64;
      const auto image = Image::parse(base::Bytes(whole).first(size));
      ASSERT_FALSE(image.has_value()) << name << " cut to " << size;
      EXPECT_EQ(image.error().code(), Code::kCorrupt);
    }
    EXPECT_FALSE(Image::parse(base::Bytes(whole).first(whole.size() - 1)));
  }
  const Bytes bare = seed();
  for (std::size_t size = 0; size < bare.size(); ++size)
    EXPECT_FALSE(Image::parse(base::Bytes(bare).first(size))) << size;
}

// The promise of the room: what it accepts, the loader survives. The fake has
// no initializers, so every crash would be the loader's.
TEST(Image, WhatIsAcceptedWithABitFlippedDoesNotCrashTheLoader) {
  const Bytes sound = fake("elf_plain");
  // Everything before the code, and the dynamic table, is what the loader
  // reads; the rest is data.
  const auto text = get<Elf64_Phdr>(sound, header_at(sound, PT_LOAD, 1));
  const auto table = get<Elf64_Phdr>(sound, header_at(sound, PT_DYNAMIC));
  std::mt19937 random(1);
  int accepted = 0;
  int refused = 0;
  for (int round = 0; round < 600; ++round) {
    Bytes bytes = sound;
    const bool in_table = round % 3 == 0;
    const std::uint64_t span = in_table ? table.p_filesz : text.p_offset;
    const std::uint64_t at =
        (in_table ? table.p_offset : 0) + random() % std::min(span, 0x800ul);
    bytes[at] ^= std::byte{1} << random() % 8;
    if (!Image::parse(bytes)) {
      ++refused;
      continue;
    }
    ++accepted;
    const TemporaryLibrary library(bytes);
    const int status = in_child([&] {
      library.open();
      return 0;
    });
    EXPECT_EQ(status, 0) << "byte " << at << " is now "
                         << std::to_integer<int>(bytes[at]);
  }
  EXPECT_GT(accepted, 50);
  EXPECT_GT(refused, 50);
}

const Spoiled kSpoiled[] = {
    {"NoStrings",
     [](Bytes& b) { put<std::uint64_t>(b, entry_at(b, DT_STRTAB), 99); },
     Code::kCorrupt, "no DT_STRTAB"},
    {"StringsWithoutEnd",
     [](Bytes& b) { set_value(b, DT_STRSZ, value_of(b, DT_STRSZ) - 1); },
     Code::kCorrupt, "does not end with a NUL"},
    {"NeededOutsideTheStrings", [](Bytes& b) { set_value(b, DT_NEEDED, 5000); },
     Code::kCorrupt, "DT_NEEDED names string 5000"},
    {"NoHashTable",
     [](Bytes& b) {
       put<std::uint64_t>(b, entry_at(b, DT_HASH), 98);
       put<std::uint64_t>(b, entry_at(b, DT_GNU_HASH), 99);
     },
     Code::kIncompatible, "neither DT_GNU_HASH nor DT_HASH"},
    {"HashBitesItsTail",
     [](Bytes& b) {
       const std::uint64_t chains = seed_table(b, DT_HASH) + 8 + 2 * 4;
       for (std::uint32_t i = 1; i < 8; ++i)
         put<std::uint32_t>(b, chains + std::uint64_t{4} * i, 1 + i % 7);
     },
     Code::kCorrupt, "a chain never ends"},
    {"HashNamesNoSymbol",
     [](Bytes& b) { put<std::uint32_t>(b, seed_table(b, DT_HASH) + 8, 77); },
     Code::kCorrupt, "names symbol 77"},
    {"HashTablesDisagree",
     [](Bytes& b) {
       // The first exported symbol's chain now ends with it.
       const std::uint64_t chain = seed_table(b, DT_GNU_HASH) + 16 + 8 + 4;
       put<std::uint32_t>(b, chain, get<std::uint32_t>(b, chain) | 1);
     },
     Code::kCorrupt, "ends at symbol 6, DT_HASH at 8"},
    {"GnuChainNeverEnds",
     [](Bytes& b) {
       // The table moves to the end of its segment, and loses its last word.
       const std::uint64_t table = seed_table(b, DT_GNU_HASH);
       std::memmove(&b[0x400 - 36], &b[table], 36);
       set_value(b, DT_GNU_HASH, 0x400 - 36);
     },
     Code::kCorrupt, "a chain of DT_GNU_HASH"},
    {"GnuFilterOfThreeWords",
     [](Bytes& b) { put<std::uint32_t>(b, seed_table(b, DT_GNU_HASH) + 8, 3); },
     Code::kCorrupt, "filter of 3 words"},
    {"GnuFilterShiftsTooFar",
     [](Bytes& b) {
       put<std::uint32_t>(b, seed_table(b, DT_GNU_HASH) + 12, 64);
     },
     Code::kCorrupt, "shifts by 64"},
    {"GnuBucketsOutside",
     [](Bytes& b) {
       put<std::uint32_t>(b, seed_table(b, DT_GNU_HASH), 0xffffffff);
     },
     Code::kCorrupt, "DT_GNU_HASH at"},
    {"GnuBucketBeforeTheFirst",
     [](Bytes& b) {
       put<std::uint32_t>(b, seed_table(b, DT_GNU_HASH) + 24, 1);
     },
     Code::kCorrupt, "its first symbol is 5"},
    {"ExportsNothing",
     [](Bytes& b) {
       put<std::uint32_t>(b, seed_table(b, DT_GNU_HASH) + 24, 0);
     },
     Code::kIncompatible, "exports nothing"},
    {"SymbolsOfOtherSize", [](Bytes& b) { set_value(b, DT_SYMENT, 16); },
     Code::kCorrupt, "DT_SYMENT of 16"},
    {"SymbolNameOutside",
     [](Bytes& b) {
       put<std::uint32_t>(b, seed_table(b, DT_SYMTAB) + 24, 9999);
     },
     Code::kCorrupt, "names string 9999"},
    {"FunctionOutsideTheCode",
     [](Bytes& b) {
       put<std::uint64_t>(b, seed_table(b, DT_SYMTAB) + 5 * 24 + 8, 0x1500);
     },
     Code::kCorrupt, "is outside the library's code"},
    {"ThreadLocalOutside",
     [](Bytes& b) {
       put<std::uint64_t>(b, seed_table(b, DT_SYMTAB) + 7 * 24 + 8, 64);
     },
     Code::kCorrupt, "thread-local symbol 'per_thread'"},
    {"VersionsWithoutIndices",
     [](Bytes& b) { put<std::uint64_t>(b, entry_at(b, DT_VERSYM), 99); },
     Code::kCorrupt, "found only the others"},
    {"VersionIndexOfNothing",
     [](Bytes& b) {
       put<std::uint16_t>(b, seed_table(b, DT_VERSYM) + 2 * 4, 9);
     },
     Code::kCorrupt, "symbol 4 has version index 9"},
    {"VersionOfAFileNotNeeded",
     [](Bytes& b) {
       put<std::uint32_t>(b, seed_table(b, DT_VERNEED) + 4, 1);
       set_value(b, DT_NEEDED, value_of(b, DT_SONAME));
     },
     Code::kCorrupt, "which DT_NEEDED does not name"},
    {"VersionChainTooLong", [](Bytes& b) { set_value(b, DT_VERNEEDNUM, 2); },
     Code::kCorrupt, "the chain has fewer"},
    {"VersionChainOfNothing", [](Bytes& b) { set_value(b, DT_VERNEEDNUM, 0); },
     Code::kCorrupt, "DT_VERNEEDNUM is 0"},
    {"VersionsOfAFileTooFew",
     [](Bytes& b) { put<std::uint16_t>(b, seed_table(b, DT_VERNEED) + 2, 2); },
     Code::kCorrupt, "has 2 versions, its chain has fewer"},
    {"VersionIndexReserved",
     [](Bytes& b) {
       put<std::uint16_t>(b, seed_table(b, DT_VERNEED) + 16 + 6, 1);
     },
     Code::kCorrupt, "has index 1"},
    {"RelocationOfNoSymbol",
     [](Bytes& b) { put<std::uint32_t>(b, seed_table(b, DT_JMPREL) + 12, 8); },
     Code::kCorrupt, "DT_JMPREL names symbol 8, the library has 8"},
    {"RelocationOfCode",
     [](Bytes& b) { put<std::uint64_t>(b, seed_table(b, DT_JMPREL), 0x190); },
     Code::kCorrupt, "relocation at 0x190, which is not writable"},
    {"RelocationOutside",
     [](Bytes& b) { put<std::uint64_t>(b, seed_table(b, DT_RELA), 0x16d4); },
     Code::kCorrupt, "relocation at 0x16d4"},
    {"RelocationThatCopies",
     [](Bytes& b) {
       put<std::uint32_t>(b, seed_table(b, DT_JMPREL) + 8, R_X86_64_COPY);
     },
     Code::kIncompatible, "of type 5"},
    {"ResolverOutsideTheCode",
     [](Bytes& b) {
       put<std::uint64_t>(b, seed_table(b, DT_JMPREL) + 8, R_X86_64_IRELATIVE);
       put<std::uint64_t>(b, seed_table(b, DT_JMPREL) + 16, 0x1500);
     },
     Code::kCorrupt, "a resolver at 0x1500, which is not code"},
    {"RelativeCountTooHigh", [](Bytes& b) { set_value(b, DT_RELACOUNT, 2); },
     Code::kCorrupt, "DT_RELACOUNT says that it is relative"},
    {"CallsWithoutASize",
     [](Bytes& b) { put<std::uint64_t>(b, entry_at(b, DT_PLTRELSZ), 99); },
     Code::kCorrupt, "DT_JMPREL has an address and no size"},
    {"RelocationsOfOtherSize", [](Bytes& b) { set_value(b, DT_RELAENT, 16); },
     Code::kCorrupt, "DT_RELAENT is 16"},
    {"RelocationsCutOff", [](Bytes& b) { set_value(b, DT_RELASZ, 25); },
     Code::kCorrupt, "25 bytes"},
    {"CallsWithoutAKind", [](Bytes& b) { set_value(b, DT_PLTREL, DT_REL); },
     Code::kCorrupt, "expected DT_RELA"},
    {"PackedBeginsWithABitmap",
     [](Bytes& b) {
       put<std::uint64_t>(b, entry_at(b, DT_SONAME), DT_RELR);
       set_value(b, DT_RELR, seed_table(b, DT_GNU_HASH) + 16);
       put<std::uint64_t>(b, entry_at(b, DT_FLAGS_1), DT_RELRSZ);
     },
     Code::kCorrupt, "DT_RELR begins with a bitmap"},
    {"InitializersOutside",
     [](Bytes& b) { set_value(b, DT_INIT_ARRAY, 0x4000); }, Code::kCorrupt,
     "DT_INIT_ARRAY at 0x4000"},
    {"InitializerIsData",
     [](Bytes& b) {
       put<std::uint64_t>(b, entry_at(b, DT_SONAME), DT_INIT);
       set_value(b, DT_INIT, 0x1500);
     },
     Code::kCorrupt, "DT_INIT is at 0x1500"},
    {"CallTableReadOnly", [](Bytes& b) { set_value(b, DT_PLTGOT, 0x190); },
     Code::kCorrupt, "DT_PLTGOT is at 0x190"},
};

class ImageRejects : public ::testing::TestWithParam<Spoiled> {};

TEST_P(ImageRejects, WithCodeAndReason) { expect_refusal(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Table, ImageRejects, ::testing::ValuesIn(kSpoiled),
                         [](const auto& row) {
                           return std::string(row.param.name);
                         });

}  // namespace
}  // namespace berth::elf
