#include "cli/arguments.h"

#include <fmt/format.h>

#include <memory>

#include "berth/version.h"
#include "cli/help.h"

namespace berth::cli {
namespace {

constexpr const char* kModelFile = "FILE{.pt2,.pte,.so}";
constexpr const char* kArrayFile = "FILE{.npy,.npz}";
constexpr int kMost = 1'000'000'000;  // Of what is counted.
constexpr const char* kFileHelp =
    "A package (.pt2), an ExecuTorch program (.pte) or an AOTInductor library "
    "(.so)";
constexpr const char* kDataHelp =
    "The program's .ptd files, or the weights blob of a library that does not "
    "hold them";

// What one code asks for; the numbers and names are berth/error.h's.
constexpr std::pair<Code, const char*> kRemedies[] = {
    {Code::kInvalidArgument, "these inputs or options can never work"},
    {Code::kNotFound, "a file, key, symbol or constant is missing"},
    {Code::kCorrupt, "the file contradicts itself: make it anew"},
    {Code::kIncompatible, "made for another machine, ABI or torch"},
    {Code::kUnsupported, "Berth does not do this"},
    {Code::kOutOfMemory, "no memory"},
    {Code::kSystem, "the operating system refused"},
    {Code::kDelegate, "the compiled model itself reported failure"},
    {Code::kInternal, "a bug in Berth: please report it"},
    {Code::kBusy, "every replica is running"},
};

std::string exit_statuses() {
  std::string text = fmt::format(
      "Exit status:\n"
      "  0   fine\n"
      "  {}   outputs differ from those of --expect, or between threads (run)\n"
      "  {}   the command line was not understood\n",
      kDiffers, kMisused);
  for (const auto& [code, remedy] : kRemedies)
    text += fmt::format("  {}  {}: {}\n", kErrorBase + static_cast<int>(code),
                        to_string(code), remedy);
  return text;
}

void add_model_options(CLI::App& command, std::vector<std::string>& data_paths,
                       std::string& model_name, const char* model_help) {
  command.add_option("--data", data_paths, kDataHelp)->type_name("FILE");
  command.add_option("--model", model_name, model_help)->type_name("NAME");
}

void add_timing_options(CLI::App& run, RunOptions& options) {
  run.add_option("--repeat", options.repeat,
                 "Runs; those after the first are timed")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1, kMost));
  run.add_option("--replicas", options.source.replicas,
                 "Copies of each library, which may run at once")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1, kMost));
  run.add_option("--threads", options.threads,
                 "Threads that share the runs after the first; exit 1 if one "
                 "gives other outputs")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
}

void add_array_options(CLI::App& run, RunOptions& options) {
  run.add_option("--input", options.inputs,
                 "Inputs in order: a .npy for one, a .npz for all that are in "
                 "it, in its order and whatever their names. Raw bytes (V1, "
                 "V2), as which NumPy keeps float8 and bfloat16, are taken for "
                 "what the model expects there")
      ->type_name(kArrayFile);
  run.add_option("--output", options.output,
                 "Where the outputs go: a .npz (arr_0, arr_1, ...), or else a "
                 "directory (out0.npy, out1.npy, ...)")
      ->type_name("FILE{.npz}");
  run.add_option("--expect", options.expected,
                 "Expected outputs in order, as .npy or .npz; exit 1 if they "
                 "differ")
      ->type_name(kArrayFile);
  run.add_option("--rtol", options.tolerance.relative,
                 "Allowed difference relative to the expected element")
      ->type_name("NUMBER")
      ->capture_default_str();
  run.add_option("--atol", options.tolerance.absolute,
                 "Allowed absolute difference")
      ->type_name("NUMBER")
      ->capture_default_str();
}

void add_run(CLI::App& app, RunOptions& options) {
  CLI::App& run = *app.add_subcommand(
      "run",
      "Load a package, a program or a library, run it, compare and time "
      "it");
  run.add_option("FILE", options.source.path, kFileHelp)
      ->type_name(kModelFile)
      ->required();
  add_model_options(run, options.source.data_paths, options.source.model_name,
                    "The package's model (default: 'model', or the only one)");
  run.add_option("--method", options.source.method, "Method of the program")
      ->type_name("NAME")
      ->capture_default_str();
  add_array_options(run, options);
  add_timing_options(run, options);
  run.add_option("--temp-dir", options.source.temp_directory,
                 "Where the libraries' private files are made")
      ->type_name("DIR");
  run.add_option("--placement", options.source.placement,
                 "Where the libraries are put: a private file, memory, or "
                 "memory where no file can be (default: BERTH_PLACEMENT, else "
                 "automatic)")
      ->check(CLI::IsMember({"automatic", "file", "memory"}));
  run.add_flag("--json", options.json, "JSON instead of a table");
  run.footer(
      "Exit status: 0 when all went well, 1 when outputs differ, others as "
      "'berth --help' lists them.");
}

void add_inspect(CLI::App& app, InspectOptions& options) {
  CLI::App& inspect = *app.add_subcommand(
      "inspect",
      "Say what a package, a program or a library is and needs; runs nothing");
  inspect.add_option("FILE", options.path, kFileHelp)
      ->type_name(kModelFile)
      ->required();
  add_model_options(inspect, options.data_paths, options.model_name,
                    "The package's model (default: all of them)");
  inspect.add_flag("--json", options.json, "JSON instead of a table");
  inspect.footer("Exit status: 0, or one that 'berth --help' lists.");
}

void add_check(CLI::App& app, CheckOptions& options) {
  CLI::App& check = *app.add_subcommand(
      "check",
      "Say whether this machine can run the files, and all that is missing; "
      "runs nothing");
  check
      .add_option("FILE", options.paths,
                  "Packages (.pt2), ExecuTorch programs (.pte) or AOTInductor "
                  "libraries (.so)")
      ->type_name(kModelFile)
      ->required();
  add_model_options(check, options.data_paths, options.model_name,
                    "The package's model (default: all of them)");
  check.add_flag("--json", options.json, "JSON instead of a table");
  check.footer(
      "Exit status: 0 when all of it can be run, else that of the first thing "
      "missing, as 'berth --help' lists them: 15 when Berth lacks operators, "
      "14 when the machine lacks something, 12 when a file does.");
}

void add_completion(CLI::App& app, std::string& shell) {
  CLI::App& completion =
      *app.add_subcommand("completion",
                          "Print what makes a shell complete "
                          "commands, options and files");
  completion.add_option("SHELL", shell, "Whose language it is to be in")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion.footer(
      "For this session: source <(berth completion bash). An installed Berth "
      "has all three in their places.");
}

}  // namespace

void declare(CLI::App& app, Arguments& arguments) {
  app.description(
      "Run the libraries that AOTInductor compiles, without libtorch");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("--version", BERTH_VERSION,
                       "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.require_subcommand(0, 1);
  app.footer(exit_statuses());
  add_run(app, arguments.run);
  add_inspect(app, arguments.inspect);
  add_check(app, arguments.check);
  add_completion(app, arguments.shell);
}

}  // namespace berth::cli
