#include "cli/library_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::cli {
namespace {

// For people: without the prefix that nearly all of them share.
std::vector<std::string> short_names(std::vector<std::string> names) {
  constexpr std::string_view kPrefix = "aoti_torch_";
  for (std::string& name : names) {
    if (name.starts_with(kPrefix)) name.erase(0, kPrefix.size());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

nlohmann::ordered_json to_json(const Inspection& library) {
  return {{"size_bytes", library.size_bytes},
          {"needed", library.needed},
          {"served", library.served},
          {"not_served", library.not_served},
          {"other_imports", library.other_imports},
          {"missing", library.missing},
          {"unique_symbols", library.unique_symbols},
          {"executable_stack", library.executable_stack},
          {"tls_size_bytes", library.tls_size_bytes},
          {"refusals", library.refusals}};
}

void print_list(std::string_view title, const std::vector<std::string>& items) {
  constexpr std::size_t kWidth = 80;
  std::string line = fmt::format("    {:<16}", title);
  if (items.empty()) line += "none";
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + (i + 1 < items.size() ? "," : "");
    if (line.size() + item.size() + 1 > kWidth && line.size() > 20) {
      fmt::print("{}\n", line);
      line = std::string(20, ' ');
    } else if (i > 0) {
      line += ' ';
    }
    line += item;
  }
  fmt::print("{}\n", line);
}

void add_library(const Result<Inspection>& library,
                 nlohmann::ordered_json& json) {
  if (library) {
    json["library"] = to_json(*library);
  } else {
    json["error"] = library.error().to_string();
  }
}

void print_library(const Result<Inspection>& library) {
  if (library) {
    print_library(*library);
  } else {
    fmt::print("    {}\n", library.error().to_string());
  }
}

void print_library(const Inspection& library) {
  fmt::print("    {:<16}{} bytes\n", "size", library.size_bytes);
  print_list("needs", library.needed);
  print_list("served", short_names(library.served));
  print_list("not served", short_names(library.not_served));
  fmt::print("    {:<16}{} others (--json names them)\n", "imports",
             library.other_imports.size());
  print_list("not found", library.missing);
  fmt::print("    {:<16}{}\n", "unique symbols", library.unique_symbols.size());
  fmt::print("    {:<16}{}\n", "stack",
             library.executable_stack ? "asks for an executable one, cleared"
                                      : "not executable");
  if (library.refusals.empty()) {
    fmt::print("    {:<16}yes\n", "loadable here");
  } else {
    print_list("refused", library.refusals);
  }
}

}  // namespace berth::cli
