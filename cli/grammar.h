// What the parser knows of the command line, as shells' completions need it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace berth::cli {

// What may stand in one place of the command line.
struct Slot {
  std::vector<std::string> words;
  std::vector<std::string> suffixes;  // Of files; "" is any.
  bool directories = false;
  bool many = false;
};

// Whether an option or argument takes any number of values.
bool takes_many(const CLI::Option& option);

struct Option {
  std::vector<std::string> long_names;   // Without dashes.
  std::vector<std::string> short_names;  // The same.
  std::string description;
  bool takes_value = false;
  Slot value;

  // "-h", "--help"
  std::vector<std::string> names() const;

  // The description's first clause, for shells that show it beside the name.
  std::string brief() const;
};

struct Command {
  std::string name;  // Empty: what stands before any command.
  std::string description;
  std::vector<Option> options;
  std::vector<std::string> option_names;
  Slot positional;

  std::string brief() const;
};

// What declare() (arguments.h) wrote into `app`: what stands before any
// command, then each command.
std::vector<Command> commands_of(const CLI::App& app);

}  // namespace berth::cli
