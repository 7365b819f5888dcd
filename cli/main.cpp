// The berth command. Everything it does is behind the public headers.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>

#include "cli/arguments.h"
#include "cli/completion.h"

namespace {

using berth::cli::kErrorBase;

int report(const berth::Error& error) {
  fmt::print(stderr, "berth: {}\n", error.to_string());
  return kErrorBase + static_cast<int>(error.code());
}

int report(berth::Code code, const char* what) {
  return report(berth::Error(code, what));
}

// "berth", or "berth run" once that much was understood.
std::string spoken_to(const CLI::App& app) {
  std::string name = app.get_name();
  for (const CLI::App* command : app.get_subcommands())
    name += " " + command->get_name();
  return name;
}

int do_command(CLI::App& app, const berth::cli::Arguments& arguments) {
  if (app.got_subcommand("run")) {
    const auto agrees = berth::cli::run(arguments.run);
    if (!agrees) return report(agrees.error());
    return *agrees ? 0 : berth::cli::kDiffers;
  }
  if (app.got_subcommand("check")) {
    const auto missing = berth::cli::check(arguments.check);
    return missing ? kErrorBase + static_cast<int>(*missing) : 0;
  }
  if (app.got_subcommand("completion")) {
    fmt::print("{}", berth::cli::completion(app, arguments.shell));
    return 0;
  }
  const auto status = berth::cli::inspect(arguments.inspect);
  return status ? 0 : report(status.error());
}

int run_app(int argc, char** argv) {
  CLI::App app("", "berth");
  berth::cli::Arguments arguments;
  berth::cli::declare(app, arguments);
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) throw CLI::RequiredError("a command");
  } catch (const CLI::ParseError& error) {
    // Help and the version come this way, too.
    if (error.get_exit_code() == 0) return app.exit(error);
    fmt::print(stderr, "berth: {}; '{} --help' says more\n", error.what(),
               spoken_to(app));
    return berth::cli::kMisused;
  }
  return do_command(app, arguments);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_app(argc, argv);
  } catch (const std::bad_alloc&) {
    return report(berth::Code::kOutOfMemory, "no memory");
  } catch (const std::exception& error) {
    return report(berth::Code::kInternal, error.what());
  }
}
