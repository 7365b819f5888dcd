#include "cli/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace berth::cli {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const TensorSpec& spec) {
  Json json = {{"name", spec.name}, {"path", spec.path}};
  if (!spec.is_known) return json;
  Json sizes = Json::array();
  for (const auto& [least, most] : spec.sizes) sizes.push_back({least, most});
  json["dtype"] = to_string(spec.dtype);
  json["sizes"] = std::move(sizes);
  return json;
}

}  // namespace

bool RunReport::agrees() const {
  return differing_runs == 0 &&
         std::ranges::all_of(outputs, [](const OutputReport& output) {
           return output.difference.count == 0;
         });
}

void print_table(const RunOptions& options, const RunReport& report) {
  fmt::print("{}", options.source.path);
  if (!options.source.method.empty())
    fmt::print("  method {}", options.source.method);
  fmt::print("\n  libraries   {} loaded, each from a place of its own\n",
             report.libraries.size());
  for (const auto& [path, in_memory, reason] : report.libraries) {
    fmt::print("              {}{}\n", path, in_memory ? "  in memory" : "");
    if (!reason.empty()) fmt::print("                because {}\n", reason);
  }
  if (report.libtorch.empty()) {
    fmt::print("  libtorch    not mapped\n");
  } else {
    fmt::print("  libtorch    mapped: {}\n", fmt::join(report.libtorch, ", "));
  }
  for (const TensorSpec& input : report.inputs)
    fmt::print("  input {}\n", input.to_string());
  for (std::size_t i = 0; i < report.outputs.size(); ++i) {
    const OutputReport& output = report.outputs[i];
    fmt::print("  output {:<4} {}", i, output.description);
    if (output.compared) {
      const Difference& difference = output.difference;
      fmt::print("  largest difference {:.2g}  ", difference.largest);
      if (difference.count == 0) {
        fmt::print("agrees");
      } else {
        fmt::print("DIFFERS in {} elements, first at {}", difference.count,
                   difference.first_index);
      }
    }
    fmt::print("\n");
  }
  fmt::print("  time        load {:.1f} ms, first run {:.1f} us",
             report.load_us / 1000, report.first_run_us);
  if (report.median_run_us > 0)
    fmt::print(", then {:.2f} us (median of {})", report.median_run_us,
               options.repeat - 1);
  if (options.threads > 1)
    fmt::print("\n  threads     {}, {:.0f} runs a second, {} of them differ",
               options.threads, report.runs_per_second, report.differing_runs);
  fmt::print("\n  memory      {:.1f} MB resident\n",
             static_cast<double>(report.resident_bytes) / 1e6);
  fmt::print("  afterwards  {} files left, {} libraries mapped\n",
             report.left_files.size(), report.left_mapped.size());
  for (const auto& [path, reason] : report.left_mapped)
    fmt::print("              {} stayed mapped: {}\n", path, reason);
}

void print_json(const RunOptions& options, const RunReport& report) {
  Json inputs = Json::array();
  for (const TensorSpec& input : report.inputs)
    inputs.push_back(to_json(input));
  Json outputs = Json::array();
  for (const OutputReport& output : report.outputs) {
    Json entry = {{"type", output.description}};
    if (output.compared) {
      entry["largest_difference"] = output.difference.largest;
      entry["outside"] = output.difference.count;
    }
    outputs.push_back(std::move(entry));
  }
  Json libraries = Json::array();
  Json in_memory = Json::array();
  for (const LoadedLibrary& library : report.libraries) {
    libraries.push_back(library.path);
    if (library.in_memory)
      in_memory.push_back(
          {{"path", library.path}, {"because", library.fallback_reason}});
  }
  Json left = Json::array();
  for (const auto& [path, reason] : report.left_mapped)
    left.push_back({{"path", path}, {"reason", reason}});
  const Json json = {{"file", options.source.path},
                     {"method", options.source.method},
                     {"model", options.source.model_name},
                     {"libraries", std::move(libraries)},
                     {"in_memory", std::move(in_memory)},
                     {"libtorch", report.libtorch},
                     {"inputs", std::move(inputs)},
                     {"call_spec",
                      {{"inputs", report.call_spec.inputs},
                       {"outputs", report.call_spec.outputs}}},
                     {"outputs", std::move(outputs)},
                     {"agrees", report.agrees()},
                     {"load_us", report.load_us},
                     {"first_run_us", report.first_run_us},
                     {"median_run_us", report.median_run_us},
                     {"runs_per_second", report.runs_per_second},
                     {"differing_runs", report.differing_runs},
                     {"resident_bytes", report.resident_bytes},
                     {"files_left", report.left_files},
                     {"libraries_left", std::move(left)}};
  fmt::print("{}\n", json.dump(2));
}

}  // namespace berth::cli
