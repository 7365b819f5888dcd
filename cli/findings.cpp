#include "cli/findings.h"

#include <algorithm>

#include "berth/inspection.h"

namespace berth::cli {

std::optional<Code> FileFindings::first() const {
  for (const Part& part : parts) {
    if (!part.findings.empty()) return part.findings.front().code;
  }
  return std::nullopt;
}

Finding finding_of(const Error& error) {
  return {error.code(), std::string(error.message())};
}

Part examine_library(std::string name, std::span<const std::byte> library,
                     std::string_view instruction_set,
                     std::span<const std::byte> operators) {
  Part part{std::move(name), {}, {}};
  const auto inspection = Inspection::of(library, instruction_set, operators);
  if (!inspection) {
    part.findings.push_back(finding_of(inspection.error()));
    return part;
  }
  part.not_served = inspection->not_served;
  const auto is_not_served = [](const std::string& refusal) {
    return refusal.find("' is not served (") != std::string::npos;
  };
  for (const std::string& refusal : inspection->refusals)
    part.findings.push_back(
        {is_not_served(refusal) ? Code::kUnsupported : Code::kIncompatible,
         refusal});
  // clang 14 does not take the one of std::ranges.
  std::stable_partition(part.findings.begin(), part.findings.end(),
                        [](const Finding& finding) {
                          return finding.code != Code::kUnsupported;
                        });
  return part;
}

}  // namespace berth::cli
