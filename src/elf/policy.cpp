#include "elf/policy.h"

#include <algorithm>
#include <array>

#include "elf/renames.h"

namespace berth::elf {
namespace {

constexpr std::string_view kTorch = "aoti_torch_";

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

// Operators are named after their device: aoti_torch_cpu_topk is topk. All
// else that starts like that is a function of torch's runtime.
std::string described(std::string_view import) {
  constexpr std::array<std::string_view, 4> kDevices = {"cpu_", "cuda_", "mps_",
                                                        "xpu_"};
  const std::string_view rest = import.substr(kTorch.size());
  for (const std::string_view device : kDevices)
    if (rest.starts_with(device) && rest.size() > device.size())
      return "operator " + quoted(rest.substr(device.size())) +
             " is not served (import " + std::string(import) + ")";
  return "torch function " + quoted(rest) + " is not served (import " +
         std::string(import) + ")";
}

}  // namespace

void Policy::judge_needs(const Image& image, const Host& host) {
  std::vector<std::string_view> absent;
  for (const std::string_view needed : image.needed()) {
    if (is_torch_library(needed) || host.has_library(needed)) continue;
    absent.push_back(needed);
    refusals.push_back("library " + quoted(needed) + " is not found");
  }
  for (const VersionNeed& need : image.version_needs()) {
    // Of a library that is not there, nothing more can be said.
    if (need.weak || is_torch_library(need.file) ||
        std::ranges::count(absent, need.file) != 0 ||
        host.has_version(need.file, need.version))
      continue;
    absent_versions_.push_back(need.version);
    refusals.push_back("version " + quoted(need.version) + " of " +
                       quoted(need.file) + " is not found");
  }
}

void Policy::judge_import(const Symbol& symbol, const Host& host) {
  const std::string_view name = symbol.name;
  const bool may_be_absent = symbol.binding == STB_WEAK;
  const bool is_renamed = !keeps_name(name);
  if (is_renamed && host.serves(name)) {
    served.push_back(name);
    return;
  }
  if (name.starts_with(kTorch) && !may_be_absent) {
    not_served.push_back(name);
    refusals.push_back(described(name));
    return;
  }
  other_imports.push_back(name);
  // What Berth renames must come from Berth, whoever else has it.
  if (may_be_absent || (!is_renamed && host.resolves(name, symbol.version)))
    return;
  missing.push_back(name);
  // The version's own line says it for all of its symbols.
  if (std::ranges::count(absent_versions_, symbol.version) != 0) return;
  refusals.push_back("symbol " + quoted(name) +
                     (symbol.version.empty()
                          ? std::string()
                          : " of version " + quoted(symbol.version)) +
                     (is_renamed ? " is not served" : " is not found"));
}

Policy Policy::judge(const Image& image, const Host& host,
                     std::span<const std::string_view> entry_points,
                     std::string_view instruction_set) {
  Policy policy;
  auto& refusals = policy.refusals;
  if (!instruction_set.empty() && !host.runs(instruction_set))
    refusals.push_back("it was compiled for " + std::string(instruction_set) +
                       ", which this CPU does not run");
  if (image.has_text_relocations())
    refusals.push_back(
        "its code would be patched while it is mapped (text relocations): "
        "compile it with -fPIC");
  for (const std::string_view entry : entry_points)
    if (image.find_export(entry) == nullptr)
      refusals.push_back("entry point " + quoted(entry) + " is not exported");
  policy.judge_needs(image, host);
  for (const Symbol& symbol : image.symbols())
    if (symbol.is_import()) policy.judge_import(symbol, host);
  policy.missing_operators = host.missing_operators();
  for (const std::string& name : policy.missing_operators)
    refusals.push_back(std::string("operator ")
                           .append(quoted(name))
                           .append(" is not served (called by its name, and "
                                   "nobody has registered it)"));
  if (auto identity = Identity::plan(image))
    policy.identity = *std::move(identity);
  else
    refusals.emplace_back(identity.error().message());
  return policy;
}

Status Policy::verdict() const {
  if (refusals.empty()) return ok();
  std::string text;
  for (const std::string& refusal : refusals)
    text += (text.empty() ? "" : "; ") + refusal;
  // Each of these is one refusal.
  const bool only_torch =
      refusals.size() == not_served.size() + missing_operators.size();
  return fail(only_torch ? Code::kUnsupported : Code::kIncompatible,
              "the library cannot be mapped, ", refusals.size(),
              refusals.size() == 1 ? " reason: " : " reasons: ", text);
}

}  // namespace berth::elf
