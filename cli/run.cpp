#include "cli/run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>

#include "berth/process.h"
#include "cli/arrays.h"
#include "cli/files.h"
#include "cli/run_report.h"

namespace berth::cli {
namespace {

using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start)
      .count();
}

Status check_outputs(const RunOptions& options,
                     const std::vector<Tensor>& outputs, RunReport& report) {
  std::vector<std::optional<DType>> types;
  for (const Tensor& output : outputs) types.push_back(output.dtype());
  BERTH_TRY(const auto expected, read_arrays(options.expected, types));
  const bool compared = !options.expected.empty();
  if (compared && expected.size() != outputs.size())
    return fail(Code::kInvalidArgument, "the model gives ", outputs.size(),
                " outputs, ", expected.size(), " were expected");
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    OutputReport output{describe(outputs[i]), compared, {}};
    if (output.compared) {
      auto difference = compare(outputs[i], expected[i], options.tolerance);
      if (!difference) {
        difference.error().note("comparing output " + std::to_string(i));
        return tl::unexpected<Error>(std::move(difference).error());
      }
      output.difference = *difference;
    }
    report.outputs.push_back(std::move(output));
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
              RunReport& report) {
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
void look_afterwards(RunReport& report) {
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

// As many as the model takes, or what it would have taken.
Result<std::vector<Tensor>> read_inputs(const RunOptions& options,
                                        const Runner& runner) {
  std::vector<std::optional<DType>> types;
  std::string wanted;
  for (const TensorSpec& spec : runner.inputs()) {
    types.push_back(spec.is_known ? std::optional(spec.dtype) : std::nullopt);
    wanted += (wanted.empty() ? ": input " : "; input ") + spec.to_string();
  }
  BERTH_TRY(auto inputs, read_arrays(options.inputs, types));
  if (inputs.size() != types.size())
    return fail(Code::kInvalidArgument, "the model takes ", types.size(),
                " inputs, found ", inputs.size(), wanted);
  return inputs;
}

Result<RunReport> execute(const RunOptions& options, bool program) {
  RunReport report;
  auto start = Clock::now();
  std::vector<std::unique_ptr<Runner>> runners;
  for (int t = 0; t < (program ? options.threads : 1); ++t) {
    BERTH_TRY(auto runner, Runner::load(options.source));
    runners.push_back(std::move(runner));
  }
  report.load_us = microseconds_since(start);
  report.libraries = ProcessState::now().libraries;
  report.inputs = runners.front()->inputs();
  report.call_spec = runners.front()->call_spec();
  BERTH_TRY(const auto inputs, read_inputs(options, *runners.front()));

  start = Clock::now();
  BERTH_TRY(auto outputs, runners.front()->run(inputs));
  report.first_run_us = microseconds_since(start);
  BERTH_CHECK(repeat(options, runners, inputs, outputs, report));
  report.libtorch = mapped_files("libtorch");
  report.resident_bytes = resident_bytes();
  BERTH_CHECK(check_outputs(options, outputs, report));
  if (!options.output.empty())
    BERTH_CHECK(write_arrays(options.output, outputs));

  runners.clear();
  look_afterwards(report);
  return report;
}

}  // namespace

Result<bool> run(const RunOptions& given) {
  RunOptions options = given;
  BERTH_TRY(const FileKind kind, kind_of(options.source.path));
  const bool program = kind == FileKind::kProgram;
  if (!program) options.source.method.clear();  // A library has no methods.
  BERTH_TRY(const RunReport report, execute(options, program));
  options.json ? print_json(options, report) : print_table(options, report);
  return report.agrees();
}

}  // namespace berth::cli
