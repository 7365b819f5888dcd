#include "elf/identity.h"

#include <algorithm>
#include <cstdlib>

#include "elf/elf_testing.h"
#include "elf/identity_testing.h"
#include "elf/renames.h"

// What Berth serves under these names; its own definitions win.
extern "C" {
__attribute__((weak, visibility("default"))) int aoti_berth_cpu_elf_probe() {
  return 41;
}
__attribute__((weak, visibility("default"))) const char* berenv(const char*) {
  return "from Berth";
}
__attribute__((weak, visibility("default"))) int berth_thread_atexit(
    void (*)(void*), void*, void*) {
  return 0;
}
}

namespace berth::elf {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace elf::testing;  // NOLINT: this room's own helpers

constexpr const char* kRun = "AOTInductorModelContainerRun";

int call(void* library, const char* name) {
  return reinterpret_cast<int (*)()>(::dlsym(library, name))();
}

Bytes edited(Bytes bytes) {
  const auto identity = apply(bytes);
  EXPECT_TRUE(identity.has_value()) << identity.error();
  return bytes;
}

TEST(Identity, SaysWhatItChangedInADelegate) {
  Bytes bytes = fake("elf_delegate");
  const auto before = bytes;
  const auto planned = Identity::plan(*Image::parse(before));
  const auto identity = apply(bytes);
  ASSERT_TRUE(identity.has_value()) << identity.error();
  EXPECT_EQ(bytes.size(), before.size());
  EXPECT_GE(identity->unique_count, 1u);
  EXPECT_THAT(identity->renamed, Contains("aoti_torch_cpu_elf_probe"));
  EXPECT_THAT(identity->renamed, Contains("getenv"));
  EXPECT_THAT(identity->renamed, Contains("__cxa_thread_atexit"));
  EXPECT_THAT(identity->dropped, ElementsAre("libtorch_cpu.so"));
  EXPECT_TRUE(identity->cleared_stack);
  EXPECT_TRUE(identity->made_symbolic);
  EXPECT_FALSE(identity->unpinned);
  ASSERT_TRUE(planned.has_value());
  EXPECT_EQ(planned->renamed, identity->renamed);
  EXPECT_EQ(planned->unique_count, identity->unique_count);
}

TEST(Identity, AppliedTwiceChangesNothingMore) {
  for (const Bytes& bytes :
       {fake("elf_delegate"), fake("elf_now"), fake("elf_pinned"), seed()}) {
    const Bytes once = edited(bytes);
    Bytes twice = once;
    const auto identity = apply(twice);
    ASSERT_TRUE(identity.has_value());
    EXPECT_EQ(once, twice);
    EXPECT_EQ(identity->unique_count + identity->renamed.size() +
                  identity->dropped.size(),
              0u);
    EXPECT_FALSE(identity->made_symbolic || identity->cleared_stack ||
                 identity->unpinned);
  }
}

TEST(Identity, IsSeenByReadelf) {
  if (readelf("--version", "").empty()) GTEST_SKIP() << "no readelf here";
  const TemporaryLibrary library(edited(fake("elf_delegate")));
  std::vector<std::string> words;
  for (const auto& line : readelf("-l -d --dyn-syms", library.path())) {
    if (!line.empty() && line[0] == "GNU_STACK") {
      EXPECT_THAT(line, Not(Contains("RWE")));
    }
    words.insert(words.end(), line.begin(), line.end());
  }
  for (const char* name : {"aoti_berth_cpu_elf_probe", "berenv",
                           "berth_thread_atexit", "SYMBOLIC"})
    EXPECT_THAT(words, Contains(name));
  for (const char* name : {"aoti_torch_cpu_elf_probe", "UNIQUE",
                           "__cxa_thread_atexit", "[libtorch_cpu.so]"})
    EXPECT_THAT(words, Not(Contains(name)));
}

// In children: a library with a unique symbol stays mapped for good.
TEST(Identity, GivesEachCopyStaticsOfItsOwn) {
  const auto counts = [](const Bytes& first, const Bytes& second) {
    return in_child([&] {
      ::dlopen(fake_path("libtorch_cpu").c_str(), RTLD_NOW | RTLD_GLOBAL);
      const TemporaryLibrary a(first);
      const TemporaryLibrary b(second);
      void* const x = a.open();
      void* const y = b.open();
      if (x == nullptr || y == nullptr) {
        std::fprintf(stderr, "%s\n", ::dlerror());
        return 99;
      }
      return 10 * call(x, kRun) + call(y, kRun);
    });
  };
  const Bytes shared = fake("elf_delegate");
  const Bytes own = edited(shared);
  EXPECT_EQ(counts(shared, shared), 12) << "the loader's rule has changed";
  EXPECT_EQ(counts(own, own), 11);
}

TEST(Identity, BindsToBerthAndCanBeClosed) {
  const TemporaryLibrary library(edited(fake("elf_delegate")));
  const int status = in_child([&] {
    void* const handle = library.open();
    if (handle == nullptr) return 1;
    if (call(handle, "probe") != 41) return 2;
    ::setenv("BERTH_ELF_SETTING", "from outside", 1);
    const auto setting =
        reinterpret_cast<const char* (*)(void)>(::dlsym(handle, "setting"));
    if (setting() == nullptr) return 3;
    ::dlclose(handle);
    return ::dlopen(library.path().c_str(), RTLD_NOLOAD | RTLD_NOW) == nullptr
               ? 0
               : 4;
  });
  EXPECT_EQ(status, 0);
}

TEST(Identity, UsesTheFlagsThatAreThere) {
  const Bytes bytes = edited(fake("elf_now"));
  EXPECT_NE(value_of(bytes, DT_FLAGS) & DF_SYMBOLIC, 0u);
  EXPECT_NE(value_of(bytes, DT_FLAGS) & DF_BIND_NOW, 0u);
}

TEST(Identity, TakesASpareSlotForFlagsWhenNothingIsDropped) {
  const Bytes bytes = edited(fake("elf_plain"));
  EXPECT_EQ(value_of(bytes, DT_FLAGS), std::uint64_t{DF_SYMBOLIC});
  EXPECT_TRUE(Image::parse(bytes)->is_symbolic());
}

TEST(Identity, RefusesWhenThereIsNoRoomForFlags) {
  Bytes bytes = fake("elf_plain");
  const auto table = get<Elf64_Phdr>(bytes, header_at(bytes, PT_DYNAMIC));
  put<std::uint64_t>(
      bytes, header_at(bytes, PT_DYNAMIC) + offsetof(Elf64_Phdr, p_filesz),
      entry_at(bytes, DT_NULL) + 16 - table.p_offset);
  const auto identity = apply(bytes);
  ASSERT_FALSE(identity.has_value());
  EXPECT_EQ(identity.error().code(), Code::kIncompatible);
  EXPECT_THAT(identity.error().to_string(), HasSubstr("has no room"));
}

TEST(Identity, UnpinsALibraryThatAskedToStay) {
  Bytes bytes = fake("elf_pinned");
  const auto identity = apply(bytes);
  ASSERT_TRUE(identity.has_value()) << identity.error();
  EXPECT_TRUE(identity->unpinned);
  EXPECT_EQ(value_of(bytes, DT_FLAGS_1) & DF_1_NODELETE, 0u);
}

TEST(Identity, ClearsTheVersionOfARenamedImportOnly) {
  const Bytes bytes = edited(seed());
  const auto image = Image::parse(bytes);
  ASSERT_TRUE(image.has_value());
  EXPECT_EQ(image->symbols()[2].name, "berenv");
  EXPECT_EQ(image->symbols()[2].version, "");
  EXPECT_THAT(image->needed(), ElementsAre("libc.so.6"));
  const Bytes delegate = edited(fake("elf_delegate"));
  const auto other = Image::parse(delegate);
  const auto imports = other->imports();
  EXPECT_TRUE(std::any_of(imports.begin(), imports.end(),
                          [](const Symbol& s) { return !s.version.empty(); }));
}

TEST(Identity, RefusesANameWhoseBytesAreAlsoTheEndOfAnother) {
  Bytes bytes = fake("elf_shared_tail");
  const Bytes before = bytes;
  const auto identity = apply(bytes);
  ASSERT_FALSE(identity.has_value());
  EXPECT_EQ(identity.error().code(), Code::kIncompatible);
  EXPECT_THAT(
      identity.error().to_string(),
      HasSubstr("import 'getenv' cannot be renamed: its bytes in the string "
                "table are also 'secure_getenv' of an import"));
  EXPECT_EQ(bytes, before);
}

TEST(Identity, RefusesANameThatADefinitionOrATableUsesToo) {
  const std::uint64_t name =
      get<std::uint32_t>(seed(), seed_table(seed(), DT_SYMTAB) + 24);
  Bytes defined = seed();
  put<std::uint32_t>(defined, seed_table(defined, DT_SYMTAB) + 6 * 24,
                     static_cast<std::uint32_t>(name));
  const auto one = apply(defined);
  ASSERT_FALSE(one.has_value());
  EXPECT_THAT(one.error().to_string(), HasSubstr("a symbol defined here"));
  Bytes named = seed();
  set_value(named, DT_SONAME, name + 8);
  const auto two = apply(named);
  ASSERT_FALSE(two.has_value());
  EXPECT_THAT(two.error().to_string(), HasSubstr("'ch_cpu_topk' of DT_SONAME"));
  // What comes after the bytes that change may be shared.
  set_value(named, DT_SONAME, name + 9);
  EXPECT_TRUE(apply(named).has_value());
  EXPECT_EQ(Image::parse(named)->soname(), "h_cpu_topk");
}

TEST(Identity, AllowsTwoImportsOfOneName) {
  Bytes bytes = seed();
  const std::uint64_t symbols = seed_table(bytes, DT_SYMTAB);
  put<std::uint32_t>(bytes, symbols + 4 * 24,
                     get<std::uint32_t>(bytes, symbols + 24));
  const Bytes after = edited(bytes);
  const auto image = Image::parse(after);
  EXPECT_EQ(image->symbols()[1].name, "aoti_berth_cpu_topk");
  EXPECT_EQ(image->symbols()[4].name, "aoti_berth_cpu_topk");
}

TEST(Identity, RefusesToDropALibraryWhoseVersionIsNeeded) {
  Bytes bytes = seed();
  put<std::uint32_t>(bytes, seed_table(bytes, DT_VERNEED) + 4,
                     static_cast<std::uint32_t>(value_of(bytes, DT_NEEDED)));
  const auto identity = apply(bytes);
  ASSERT_FALSE(identity.has_value());
  EXPECT_THAT(identity.error().to_string(),
              HasSubstr("'libtorch_cpu.so' cannot be dropped"));
}

TEST(Identity, RefusesALibraryThatSaysNothingAboutItsStack) {
  Bytes bytes = seed();
  put<std::uint32_t>(bytes, header_at(bytes, PT_GNU_STACK), PT_NULL);
  const auto identity = apply(bytes);
  ASSERT_FALSE(identity.has_value());
  EXPECT_THAT(identity.error().to_string(), HasSubstr("no PT_GNU_STACK"));
}

TEST(Identity, NoticesTablesThatOverlap) {
  Bytes bytes = seed();
  const std::uint64_t entry = seed_table(bytes, DT_SYMTAB) + 5 * 24 + 16;
  const std::uint64_t strings = seed_table(bytes, DT_STRTAB);
  // The import "getenv" moves into the size field of an exported symbol.
  std::memcpy(&bytes[entry], "getenv\0", 8);
  set_value(bytes, DT_STRSZ, entry + 8 - strings);
  put<std::uint32_t>(bytes, seed_table(bytes, DT_SYMTAB) + 2 * 24,
                     static_cast<std::uint32_t>(entry - strings));
  const auto identity = apply(bytes);
  ASSERT_FALSE(identity.has_value());
  EXPECT_EQ(identity.error().code(), Code::kCorrupt);
  EXPECT_THAT(identity.error().to_string(), HasSubstr("overlap"));
}

TEST(Identity, RefusesWhatIsNoImage) {
  Bytes bytes(100);
  EXPECT_FALSE(apply(bytes).has_value());
}

}  // namespace
}  // namespace berth::elf
