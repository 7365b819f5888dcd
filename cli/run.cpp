#include "cli/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "berth/process.h"
#include "cli/files.h"
#include "cli/npy.h"

namespace berth::cli {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start)
      .count();
}

struct Output {
  std::string description;
  bool compared = false;
  Difference difference;
};

struct Report {
  std::vector<std::string> library_paths;
  std::vector<std::string> libtorch;
  std::vector<Output> outputs;
  double load_us = 0;
  double first_run_us = 0;
  double median_run_us = 0;  // Of the runs after the first; 0 without.
  std::size_t resident_bytes = 0;
  std::vector<std::string> left_files;
  std::vector<std::string> left_mapped;

  bool agrees() const {
    return std::ranges::all_of(outputs, [](const Output& output) {
      return output.difference.count == 0;
    });
  }
};

Result<std::vector<Tensor>> read_all(const std::vector<std::string>& paths) {
  std::vector<Tensor> tensors;
  for (const std::string& path : paths) {
    BERTH_TRY(Tensor tensor, read_npy(path));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Status check_outputs(const RunOptions& options,
                     const std::vector<Tensor>& outputs, Report& report) {
  BERTH_TRY(const auto expected, read_all(options.expected));
  if (!expected.empty() && expected.size() != outputs.size())
    return fail(Code::kInvalidArgument, "the model gives ", outputs.size(),
                " outputs, ", expected.size(), " expected files were given");
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Output output{describe(outputs[i]), !expected.empty(), {}};
    if (output.compared) {
      auto difference = compare(outputs[i], expected[i], options.tolerance);
      if (!difference) {
        difference.error().note("comparing output " + std::to_string(i) +
                                " with '" + options.expected[i] + "'");
        return tl::unexpected<Error>(std::move(difference).error());
      }
      output.difference = *difference;
    }
    report.outputs.push_back(std::move(output));
  }
  return ok();
}

Status write_outputs(const std::string& directory,
                     const std::vector<Tensor>& outputs) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    return fail(Code::kSystem, "cannot make directory '", directory,
                "': ", error.message());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto path =
        std::filesystem::path(directory) / ("out" + std::to_string(i) + ".npy");
    BERTH_CHECK(write_npy(path.string(), outputs[i]));
  }
  return ok();
}

Result<Report> execute(const RunOptions& options) {
  Report report;
  BERTH_TRY(const auto inputs, read_all(options.inputs));
  auto start = Clock::now();
  BERTH_TRY(auto runner, Runner::load(options.source));
  report.load_us = microseconds_since(start);
  report.library_paths = ProcessState::now().library_paths;

  start = Clock::now();
  BERTH_TRY(auto outputs, runner->run(inputs));
  report.first_run_us = microseconds_since(start);
  std::vector<double> times;
  for (int i = 1; i < options.repeat; ++i) {
    start = Clock::now();
    BERTH_TRY(outputs, runner->run(inputs));
    times.push_back(microseconds_since(start));
  }
  if (!times.empty()) {
    std::ranges::sort(times);
    report.median_run_us = times[times.size() / 2];
  }
  report.libtorch = mapped_files("libtorch");
  report.resident_bytes = resident_bytes();
  BERTH_CHECK(check_outputs(options, outputs, report));
  if (!options.output_directory.empty())
    BERTH_CHECK(write_outputs(options.output_directory, outputs));

  runner.reset();
  const auto mapped = mapped_files(".so");
  for (const std::string& path : report.library_paths) {
    if (std::filesystem::exists(path)) report.left_files.push_back(path);
    // The loader's maps say "(deleted)" behind a removed file's path.
    for (const std::string& map : mapped) {
      if (map.starts_with(path)) report.left_mapped.push_back(path);
    }
  }
  return report;
}

void print_table(const RunOptions& options, const Report& report) {
  fmt::print("{}", options.source.path);
  if (!options.source.method.empty())
    fmt::print("  method {}", options.source.method);
  fmt::print("\n  libraries   {} loaded, each from a file of its own\n",
             report.library_paths.size());
  for (const std::string& path : report.library_paths)
    fmt::print("              {}\n", path);
  if (report.libtorch.empty()) {
    fmt::print("  libtorch    not mapped\n");
  } else {
    fmt::print("  libtorch    mapped: {}\n", fmt::join(report.libtorch, ", "));
  }
  for (std::size_t i = 0; i < report.outputs.size(); ++i) {
    const Output& output = report.outputs[i];
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
  fmt::print("\n  memory      {:.1f} MB resident\n",
             static_cast<double>(report.resident_bytes) / 1e6);
  fmt::print("  afterwards  {} files left, {} libraries mapped\n",
             report.left_files.size(), report.left_mapped.size());
}

void print_json(const RunOptions& options, const Report& report) {
  Json outputs = Json::array();
  for (const Output& output : report.outputs) {
    Json entry = {{"type", output.description}};
    if (output.compared) {
      entry["largest_difference"] = output.difference.largest;
      entry["outside"] = output.difference.count;
    }
    outputs.push_back(std::move(entry));
  }
  const Json json = {{"file", options.source.path},
                     {"method", options.source.method},
                     {"libraries", report.library_paths},
                     {"libtorch", report.libtorch},
                     {"outputs", std::move(outputs)},
                     {"agrees", report.agrees()},
                     {"load_us", report.load_us},
                     {"first_run_us", report.first_run_us},
                     {"median_run_us", report.median_run_us},
                     {"resident_bytes", report.resident_bytes},
                     {"files_left", report.left_files},
                     {"libraries_left", report.left_mapped}};
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

Result<bool> run(const RunOptions& given) {
  RunOptions options = given;
  BERTH_TRY(const bool program, is_program(options.source.path));
  if (!program) options.source.method.clear();  // A library has no methods.
  BERTH_TRY(const Report report, execute(options));
  options.json ? print_json(options, report) : print_table(options, report);
  return report.agrees();
}

}  // namespace berth::cli
