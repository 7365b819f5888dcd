#include "cli/grammar.h"

namespace berth::cli {
namespace {

std::string first_clause(const std::string& text) {
  std::size_t end = text.size();
  for (const char* stop : {": ", "; ", ". ", " (default"})
    end = std::min(end, text.find(stop));
  return text.substr(0, end);
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != ',') continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return parts;
}

// Reads the type's name, as arguments.h describes it.
Slot slot_of(const CLI::Option& option) {
  Slot slot;
  slot.many = takes_many(option);
  const std::string type = option.get_type_name();
  slot.directories = type.starts_with("DIR") || type.starts_with("FILE");
  const std::size_t open = type.find('{');
  std::vector<std::string> listed;
  if (open != std::string::npos)
    listed = split(type.substr(open + 1, type.find('}') - open - 1));
  if (type.starts_with("FILE")) {
    slot.suffixes = listed.empty() ? std::vector<std::string>{""} : listed;
  } else {
    slot.words = std::move(listed);
  }
  return slot;
}

Command command_of(const CLI::App& app, const std::string& name) {
  Command command{name, app.get_description(), {}, {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      command.positional = slot_of(*option);
      continue;
    }
    command.options.push_back(
        {option->get_lnames(), option->get_snames(), option->get_description(),
         option->get_items_expected_max() > 0, slot_of(*option)});
    for (const std::string& each : command.options.back().names())
      command.option_names.push_back(each);
  }
  for (const CLI::App* sub : app.get_subcommands({}))
    command.positional.words.push_back(sub->get_name());
  return command;
}

}  // namespace

bool takes_many(const CLI::Option& option) {
  return option.get_expected_max() >= CLI::detail::expected_max_vector_size;
}

std::vector<std::string> Option::names() const {
  std::vector<std::string> all;
  for (const std::string& name : short_names) all.push_back("-" + name);
  for (const std::string& name : long_names) all.push_back("--" + name);
  return all;
}

std::string Option::brief() const { return first_clause(description); }

std::string Command::brief() const { return first_clause(description); }

std::vector<Command> commands_of(const CLI::App& app) {
  std::vector<Command> commands = {command_of(app, "")};
  for (const CLI::App* sub : app.get_subcommands({}))
    commands.push_back(command_of(*sub, sub->get_name()));
  return commands;
}

}  // namespace berth::cli
