// The berth command. Everything it does is behind the public headers.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "berth/version.h"
#include "cli/inspect.h"
#include "cli/run.h"

namespace {

constexpr int kDiffers = 1;     // The outputs are not what was expected.
constexpr int kErrorBase = 10;  // Plus the error's code.

int report(const berth::Error& error) {
  fmt::print(stderr, "berth: {}\n", error.to_string());
  return kErrorBase + static_cast<int>(error.code());
}

CLI::App* add_run(CLI::App& app, berth::cli::RunOptions& options) {
  CLI::App* run = app.add_subcommand(
      "run", "Load a program or a library, run it, compare and time it");
  run->add_option(
         "file", options.source.path,
         "An ExecuTorch program (.pte) or an AOTInductor library (.so)")
      ->required();
  run->add_option("--data", options.source.data_paths,
                  "The program's .ptd files, or a library's weights blob");
  run->add_option("--method", options.source.method, "Method of the program")
      ->default_val("forward");
  run->add_option("--input", options.inputs, "Inputs in order, as .npy");
  run->add_option("--output", options.output_directory,
                  "Directory for the outputs, as out0.npy, out1.npy, ...");
  run->add_option("--expect", options.expected,
                  "Expected outputs in order, as .npy; exit 1 if they differ");
  run->add_option("--rtol", options.tolerance.relative,
                  "Allowed difference relative to the expected element")
      ->default_val(1e-5);
  run->add_option("--atol", options.tolerance.absolute,
                  "Allowed absolute difference")
      ->default_val(1e-5);
  run->add_option("--repeat", options.repeat,
                  "Runs; those after the first are timed")
      ->default_val(1)
      ->check(CLI::PositiveNumber);
  run->add_option("--replicas", options.source.replicas,
                  "Copies of each library, which may run at once")
      ->default_val(1)
      ->check(CLI::PositiveNumber);
  run->add_option("--threads", options.threads,
                  "Threads that share the runs after the first; exit 1 if one "
                  "gives other outputs")
      ->default_val(1)
      ->check(CLI::Range(1, 1024));
  run->add_option("--temp-dir", options.source.temp_directory,
                  "Where the libraries' private files are made");
  run->add_option("--placement", options.source.placement,
                  "Where the libraries are put: a private file, memory, or "
                  "memory where no file can be (default: BERTH_PLACEMENT, else "
                  "automatic)")
      ->check(CLI::IsMember({"automatic", "file", "memory"}));
  run->add_flag("--json", options.json, "JSON instead of a table");
  return run;
}

CLI::App* add_inspect(CLI::App& app, berth::cli::InspectOptions& options) {
  CLI::App* inspect = app.add_subcommand(
      "inspect", "Say what a program or a library is and needs; runs nothing");
  inspect
      ->add_option("file", options.path,
                   "An ExecuTorch program (.pte) or an AOTInductor library "
                   "(.so)")
      ->required();
  inspect->add_option("--data", options.data_paths, "The program's .ptd files");
  inspect->add_flag("--json", options.json, "JSON instead of a table");
  return inspect;
}

int run_app(int argc, char** argv) {
  CLI::App app(
      "Berth runs the libraries that AOTInductor compiles, without "
      "libtorch.\nExit status: 0 fine, 1 outputs differ, 10 + code "
      "on an error (docs/errors.md).",
      "berth");
  app.set_version_flag("--version", BERTH_VERSION);
  app.require_subcommand(1);
  berth::cli::RunOptions run_options;
  berth::cli::InspectOptions inspect_options;
  const CLI::App* run = add_run(app, run_options);
  add_inspect(app, inspect_options);
  CLI11_PARSE(app, argc, argv);
  if (run->parsed()) {
    const auto agrees = berth::cli::run(run_options);
    if (!agrees) return report(agrees.error());
    return *agrees ? 0 : kDiffers;
  }
  const auto status = berth::cli::inspect(inspect_options);
  return status ? 0 : report(status.error());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_app(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "berth: {}\n", error.what());
    return kErrorBase + static_cast<int>(berth::Code::kInternal);
  }
}
