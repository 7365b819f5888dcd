#include "elf/policy.h"

#include <set>

#include "elf/elf_testing.h"

namespace berth::elf {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using namespace elf::testing;  // NOLINT: this room's own helpers

constexpr std::string_view kEntries[] = {"AOTInductorModelContainerRun"};

class FakeHost final : public Host {
 public:
  bool serves(std::string_view import) const override {
    return served.count(import) != 0;
  }
  bool resolves(std::string_view symbol,
                std::string_view version) const override {
    return symbols.count(std::string(symbol) + "@" + std::string(version)) != 0;
  }
  bool has_library(std::string_view needed) const override {
    return libraries.count(needed) != 0;
  }
  bool has_version(std::string_view needed,
                   std::string_view version) const override {
    return absent_versions.count(std::string(needed) + "@" +
                                 std::string(version)) == 0;
  }
  bool runs(std::string_view instruction_set) const override {
    return instruction_set == "AVX2";
  }

  std::set<std::string_view> served = {"aoti_torch_cpu_topk", "getenv",
                                       "Sleef_expf8_u10"};
  std::set<std::string> symbols;
  std::set<std::string_view> libraries = {"libc.so.6"};
  std::set<std::string> absent_versions;
};

Status check(const Image& image, const Host& host,
             std::span<const std::string_view> entry_points,
             std::string_view instruction_set = {}) {
  return Policy::judge(image, host, entry_points, instruction_set).verdict();
}

TEST(Policy, AcceptsWhatTheHostCanGive) {
  const Bytes bytes = seed();
  const auto image = Image::parse(bytes);
  ASSERT_TRUE(image.has_value()) << image.error();
  const Policy policy = Policy::judge(*image, FakeHost(), kEntries, "AVX2");
  EXPECT_THAT(policy.refusals, IsEmpty());
  EXPECT_THAT(policy.served,
              ElementsAre("aoti_torch_cpu_topk", "getenv", "Sleef_expf8_u10"));
  // Weak in the seed: it may be absent.
  EXPECT_THAT(policy.other_imports, ElementsAre("__cxa_thread_atexit"));
  EXPECT_THAT(policy.missing, IsEmpty());
  EXPECT_TRUE(policy.verdict().has_value());
  EXPECT_TRUE(check(*image, FakeHost(), kEntries).has_value());
}

TEST(Policy, NamesAnUnservedOperatorAndSaysThatItIsUnsupported) {
  const Bytes bytes = seed();
  FakeHost host;
  host.served.erase("aoti_torch_cpu_topk");
  const auto image = Image::parse(bytes);
  const Policy policy = Policy::judge(*image, host, kEntries);
  EXPECT_THAT(policy.not_served, ElementsAre("aoti_torch_cpu_topk"));
  const Status status = policy.verdict();
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code(), Code::kUnsupported);
  EXPECT_EQ(status.error().message(),
            "the library cannot be mapped, 1 reason: operator 'topk' is not "
            "served (import aoti_torch_cpu_topk)");
}

TEST(Policy, GivesEveryReasonAtOnce) {
  const Bytes bytes = seed();
  FakeHost host;
  host.served.clear();
  host.libraries.clear();
  constexpr std::string_view kMore[] = {"AOTInductorModelContainerRun",
                                        "AOTInductorModelContainerDelete"};
  const auto image = Image::parse(bytes);
  const Status status = check(*image, host, kMore, "AVX512");
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code(), Code::kIncompatible);
  const std::string text(status.error().message());
  for (const char* reason :
       {"6 reasons: ", "compiled for AVX512",
        "entry point 'AOTInductorModelContainerDelete' is not exported",
        "library 'libc.so.6' is not found", "operator 'topk' is not served",
        "symbol 'getenv' of version 'GLIBC_2.2.5' is not served",
        "symbol 'Sleef_expf8_u10' is not served"})
    EXPECT_THAT(text, HasSubstr(reason));
  EXPECT_THAT(text, Not(HasSubstr("libtorch_cpu.so")));
}

TEST(Policy, AsksForTheVersionOfAnImport) {
  const Bytes bytes = fake("elf_shared_tail");
  const auto image = Image::parse(bytes);
  ASSERT_TRUE(image.has_value()) << image.error();
  FakeHost host;
  host.symbols = {"secure_getenv@"};
  // That library is linked to the C library, so its imports have versions.
  const Policy policy = Policy::judge(*image, host, kEntries);
  EXPECT_THAT(policy.missing, ElementsAre("secure_getenv"));
  host.symbols = {"secure_getenv@GLIBC_2.17"};
  EXPECT_THAT(Policy::judge(*image, host, kEntries).missing, IsEmpty());
}

// Fault: a C or C++ library that is too old for the delegate.
TEST(Policy, NamesAVersionThatTheHostLacksOnceForAllItsSymbols) {
  const Bytes bytes = fake("elf_shared_tail");
  const auto image = Image::parse(bytes);
  ASSERT_TRUE(image.has_value()) << image.error();
  FakeHost host;
  host.absent_versions = {"libc.so.6@GLIBC_2.17"};
  const Policy policy = Policy::judge(*image, host, kEntries);
  EXPECT_THAT(policy.missing, ElementsAre("secure_getenv"));
  EXPECT_THAT(policy.refusals,
              Contains("version 'GLIBC_2.17' of 'libc.so.6' is not found"));
  EXPECT_THAT(policy.refusals, Not(Contains(HasSubstr("symbol '"))));
  // Of a library that is not there at all, only that is said.
  host.libraries.clear();
  const Policy without = Policy::judge(*image, host, kEntries);
  EXPECT_THAT(without.refusals, Contains("library 'libc.so.6' is not found"));
  EXPECT_THAT(without.refusals, Not(Contains(StartsWith("version '"))));
}

TEST(Policy, LetsAWeakVersionBeAbsent) {
  Bytes bytes = fake("elf_shared_tail");
  // Every version of that library, which has one table of them.
  const std::uint64_t need = file_offset(bytes, value_of(bytes, DT_VERNEED));
  const auto table = get<Elf64_Verneed>(bytes, need);
  std::uint64_t at = need + table.vn_aux;
  for (int i = 0; i < table.vn_cnt; ++i) {
    auto version = get<Elf64_Vernaux>(bytes, at);
    version.vna_flags |= VER_FLG_WEAK;
    put(bytes, at, version);
    at += version.vna_next;
  }
  FakeHost host;
  host.absent_versions = {"libc.so.6@GLIBC_2.17", "libc.so.6@GLIBC_2.2.5"};
  host.symbols = {"secure_getenv@GLIBC_2.17"};
  const auto image = Image::parse(bytes);
  ASSERT_TRUE(image.has_value()) << image.error();
  EXPECT_THAT(Policy::judge(*image, host, kEntries).refusals,
              Not(Contains(StartsWith("version '"))));
}

TEST(Policy, RefusesWhatCannotBeReidentified) {
  const Bytes bytes = fake("elf_shared_tail");
  const auto image = Image::parse(bytes);
  FakeHost host;
  host.symbols = {"secure_getenv@GLIBC_2.17"};
  EXPECT_THAT(Policy::judge(*image, host, kEntries).refusals,
              ElementsAre(HasSubstr("import 'getenv' cannot be renamed")));
}

TEST(Policy, RefusesTextRelocations) {
  const Bytes bytes = fake("elf_text_relocations");
  const auto image = Image::parse(bytes);
  ASSERT_TRUE(image.has_value()) << image.error();
  const Status status = check(*image, FakeHost(), kEntries);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code(), Code::kIncompatible);
  EXPECT_THAT(status.error().to_string(), HasSubstr("text relocations"));
}

TEST(Policy, TellsTorchsRuntimeFromItsOperators) {
  Bytes bytes = seed();
  const std::string_view kName = "aoti_torch_get_numel";
  // The longest string of the seed becomes one of another kind.
  const auto image = Image::parse(bytes);
  const Symbol& import = image->symbols()[1];
  std::memcpy(&bytes[image->strings_offset() + import.name_offset],
              kName.data(), import.name.size());
  const auto other = Image::parse(bytes);
  ASSERT_TRUE(other.has_value());
  EXPECT_THAT(Policy::judge(*other, FakeHost(), kEntries).refusals,
              ElementsAre("torch function 'get_nume' is not served (import "
                          "aoti_torch_get_nume)"));
}

}  // namespace
}  // namespace berth::elf
