// Every image gets a verdict that agrees with its list of reasons, from a host
// that has some of what is asked for.
#include "elf/policy.h"

namespace {

class HalfHost final : public berth::elf::Host {
 public:
  bool serves(std::string_view import) const override {
    return import.size() % 2 == 0;
  }
  bool resolves(std::string_view symbol,
                std::string_view version) const override {
    return (symbol.size() + version.size()) % 2 == 0;
  }
  bool has_library(std::string_view needed) const override {
    return needed.size() % 2 == 0;
  }
  bool has_version(std::string_view needed,
                   std::string_view version) const override {
    return (needed.size() + version.size()) % 2 == 0;
  }
  bool runs(std::string_view instruction_set) const override {
    return instruction_set.size() % 2 == 0;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const auto image = berth::elf::Image::parse(
      {reinterpret_cast<const std::byte*>(data), size});
  if (!image) return 0;
  constexpr std::string_view kEntries[] = {"AOTInductorModelContainerRun"};
  const auto policy =
      berth::elf::Policy::judge(*image, HalfHost(), kEntries, "AVX2");
  if (policy.verdict().has_value() != policy.refusals.empty()) __builtin_trap();
  if (policy.refusals.empty() && !policy.identity) __builtin_trap();
  return 0;
}
