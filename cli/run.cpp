#include "cli/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

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
  std::vector<LoadedLibrary> libraries;
  std::vector<std::string> libtorch;
  std::vector<Output> outputs;
  double load_us = 0;
  double first_run_us = 0;
  double median_run_us = 0;  // Of the runs after the first; 0 without.
  double runs_per_second = 0;
  std::size_t differing_runs = 0;  // Of those that several threads made.
  std::size_t resident_bytes = 0;
  std::vector<std::string> left_files;
  std::vector<PinnedLibrary> left_mapped;

  bool agrees() const {
    return differing_runs == 0 &&
           std::ranges::all_of(outputs, [](const Output& output) {
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

// What one thread does of the runs after the first.
struct Share {
  Status status = ok();
  std::vector<double> times;
  std::vector<Tensor> outputs;
  std::size_t differing = 0;

  // Runs as long as there are runs left; compares with `first`, if it is given.
  void work(Runner& runner, const std::vector<Tensor>& inputs,
            const std::vector<Tensor>* first, const Tolerance& tolerance,
            std::atomic<int>& left) {
    while (left.fetch_sub(1) > 0) {
      const auto start = Clock::now();
      auto made = runner.run(inputs);
      if (!made) {
        status = tl::unexpected<Error>(std::move(made).error());
        left = 0;
        return;
      }
      times.push_back(microseconds_since(start));
      outputs = std::move(*made);
      for (std::size_t i = 0; first != nullptr && i < outputs.size(); ++i) {
        const auto difference = compare(outputs[i], (*first)[i], tolerance);
        if (difference && difference->count == 0) continue;
        ++differing;
        break;
      }
    }
  }
};

// A library's runner is for all threads, a program's for one each.
Status repeat(const RunOptions& options,
              std::span<const std::unique_ptr<Runner>> runners,
              const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs,
              Report& report) {
  const auto count = static_cast<std::size_t>(options.threads);
  std::vector<Share> shares(count);
  std::atomic<int> left = options.repeat - 1;
  const auto work = [&](std::size_t t) {
    shares[t].work(*runners[t % runners.size()], inputs,
                   count > 1 ? &outputs : nullptr, options.tolerance, left);
  };
  const auto start = Clock::now();
  std::vector<std::thread> threads;
  for (std::size_t t = 1; t < count; ++t) threads.emplace_back(work, t);
  work(0);
  for (std::thread& thread : threads) thread.join();
  const double elapsed_us = microseconds_since(start);
  std::vector<double> times;
  for (Share& share : shares) {
    BERTH_CHECK(std::move(share.status));
    times.insert(times.end(), share.times.begin(), share.times.end());
    report.differing_runs += share.differing;
  }
  if (times.empty()) return ok();
  if (count == 1) outputs = std::move(shares.front().outputs);
  std::ranges::sort(times);
  report.median_run_us = times[times.size() / 2];
  report.runs_per_second = static_cast<double>(times.size()) / elapsed_us * 1e6;
  return ok();
}

// What destroying everything has left behind: by Berth's own account, and by
// the process's maps, which say "(deleted)" behind the path of a removed file.
void look_afterwards(Report& report) {
  report.left_mapped = ProcessState::now().pinned;
  const auto mapped = mapped_files(".so");
  for (const auto& [path, in_memory, reason] : report.libraries) {
    if (in_memory) continue;
    if (std::filesystem::exists(path)) report.left_files.push_back(path);
    const auto is_left = [&path = path](const std::string& map) {
      return map.starts_with(path);
    };
    if (std::ranges::count(report.left_mapped, path, &PinnedLibrary::path) ==
            0 &&
        std::ranges::any_of(mapped, is_left))
      report.left_mapped.push_back({path, "not known"});
  }
}

Result<Report> execute(const RunOptions& options, bool program) {
  Report report;
  BERTH_TRY(const auto inputs, read_all(options.inputs));
  auto start = Clock::now();
  std::vector<std::unique_ptr<Runner>> runners;
  for (int t = 0; t < (program ? options.threads : 1); ++t) {
    BERTH_TRY(auto runner, Runner::load(options.source));
    runners.push_back(std::move(runner));
  }
  report.load_us = microseconds_since(start);
  report.libraries = ProcessState::now().libraries;

  start = Clock::now();
  BERTH_TRY(auto outputs, runners.front()->run(inputs));
  report.first_run_us = microseconds_since(start);
  BERTH_CHECK(repeat(options, runners, inputs, outputs, report));
  report.libtorch = mapped_files("libtorch");
  report.resident_bytes = resident_bytes();
  BERTH_CHECK(check_outputs(options, outputs, report));
  if (!options.output_directory.empty())
    BERTH_CHECK(write_outputs(options.output_directory, outputs));

  runners.clear();
  look_afterwards(report);
  return report;
}

void print_table(const RunOptions& options, const Report& report) {
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
                     {"libraries", std::move(libraries)},
                     {"in_memory", std::move(in_memory)},
                     {"libtorch", report.libtorch},
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

}  // namespace

Result<bool> run(const RunOptions& given) {
  RunOptions options = given;
  BERTH_TRY(const bool program, is_program(options.source.path));
  if (!program) options.source.method.clear();  // A library has no methods.
  BERTH_TRY(const Report report, execute(options, program));
  options.json ? print_json(options, report) : print_table(options, report);
  return report.agrees();
}

}  // namespace berth::cli
