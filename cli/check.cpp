#include "cli/check.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/check_package.h"
#include "cli/check_program.h"
#include "cli/files.h"
#include "cli/findings.h"

namespace berth::cli {
namespace {

using Json = nlohmann::ordered_json;

// Whether a blob of weights is the right one, only the mapped library knows.
Result<std::vector<Part>> examine_library_file(
    const std::string& path, const std::vector<std::string>& data_paths) {
  BERTH_TRY(const MappedFile file, MappedFile::open(path));
  for (const std::string& data_path : data_paths)
    BERTH_CHECK(MappedFile::open(data_path));
  return std::vector<Part>{examine_library("", file.bytes())};
}

FileFindings examine(const std::string& path, const CheckOptions& options) {
  FileFindings file{path, "", {}};
  const auto keep = [&file](Result<std::vector<Part>> parts) {
    if (parts) {
      file.parts = std::move(*parts);
    } else {
      file.parts = {{"", {finding_of(parts.error())}, {}}};
    }
  };
  const auto kind = kind_of(path);
  if (!kind) {
    file.parts = {{"", {finding_of(kind.error())}, {}}};
    return file;
  }
  switch (*kind) {
    case FileKind::kPackage:
      file.kind = "package";
      keep(examine_package(path, options.model_name));
      break;
    case FileKind::kProgram:
      file.kind = "program";
      keep(examine_program(path, options.data_paths));
      break;
    case FileKind::kLibrary:
      file.kind = "library";
      keep(examine_library_file(path, options.data_paths));
      break;
  }
  return file;
}

void print(const FileFindings& file) {
  if (!file.first()) {
    fmt::print("{}: can be run here\n", file.path);
    return;
  }
  fmt::print("{}: cannot be run here\n", file.path);
  for (const Part& part : file.parts) {
    if (part.findings.empty()) continue;
    const char* indent = part.name.empty() ? "  " : "    ";
    if (!part.name.empty()) fmt::print("  {}\n", part.name);
    for (const Finding& finding : part.findings)
      fmt::print("{}{}: {}\n", indent, to_string(finding.code), finding.text);
  }
}

Json to_json(const FileFindings& file) {
  Json parts = Json::array();
  for (const Part& part : file.parts) {
    Json findings = Json::array();
    for (const Finding& finding : part.findings)
      findings.push_back(
          {{"code", to_string(finding.code)}, {"text", finding.text}});
    parts.push_back({{"name", part.name},
                     {"runs", part.findings.empty()},
                     {"findings", std::move(findings)},
                     {"not_served", part.not_served}});
  }
  return {{"file", file.path},
          {"kind", file.kind},
          {"runs", !file.first().has_value()},
          {"parts", std::move(parts)}};
}

}  // namespace

std::optional<Code> check(const CheckOptions& options) {
  std::optional<Code> first;
  Json json = Json::array();
  for (const std::string& path : options.paths) {
    const FileFindings file = examine(path, options);
    if (!first) first = file.first();
    if (options.json) {
      json.push_back(to_json(file));
    } else {
      print(file);
    }
  }
  // Names may be any bytes; JSON is UTF-8.
  if (options.json)
    fmt::print("{}\n", json.dump(2, ' ', true, Json::error_handler_t::replace));
  return first;
}

}  // namespace berth::cli
