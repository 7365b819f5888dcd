// The command line's grammar: the one place that says which commands, options
// and values there are. Parsing, --help, the man pages and the shells'
// completions all come from it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/check.h"
#include "cli/inspect.h"
#include "cli/run.h"

namespace berth::cli {

inline constexpr int kDiffers = 1;     // Outputs are not what was expected.
inline constexpr int kMisused = 2;     // The command line is not understood.
inline constexpr int kErrorBase = 10;  // Plus the error's code.

struct Arguments {
  RunOptions run;
  InspectOptions inspect;
  CheckOptions check;
  std::string shell;
};

// Adds all of it to `app`, which borrows `arguments`. What an option takes is
// its type's name: "FILE{.npy,.npz}" for files of these names, "FILE" for any,
// "DIR", "...:{a,b}" for one of these words; all else is free text.
void declare(CLI::App& app, Arguments& arguments);

}  // namespace berth::cli
