#include "cli/completion.h"

#include <fmt/format.h>

#include <vector>

#include "cli/grammar.h"

namespace berth::cli {
namespace {

// For between single quotes, in bash and zsh.
std::string escaped(const std::string& text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
      continue;
    }
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

// ---------------------------------------------------------------- bash

constexpr const char* kBashBefore =
    R"(# bash completion for {0}, from '{0} completion bash'
_{0}() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} command= option= word
  local -i i given=0 most=0
  local words= directories= suffix suffixes=()
  COMPREPLY=()
  # Which command it is, the last option, and how many values it has.
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${{COMP_WORDS[i]}}
    if [[ -z $command ]]; then
      [[ $word == -* ]] || command=$word
    elif [[ $word == -* ]]; then
      option=$word given=0
    elif [[ $word != = ]]; then
      given+=1
    fi
  done
  [[ $cur == = ]] && cur=
  case "$command $option" in
)";

constexpr const char* kBashBetween = R"(  esac
  if [[ $cur == -* ]] || ((given >= most)); then
    words= directories= suffixes=()
    case "$command" in
)";

constexpr const char* kBashAfter = R"(    esac
  fi
  mapfile -t COMPREPLY < <(
    compgen -W "$words" -- "$cur"
    for suffix in "${{suffixes[@]}}"; do
      compgen -f -X "!*$suffix" -- "$cur"
    done
    [[ -z $directories ]] || compgen -d -- "$cur"
  )
  [[ -z $directories ]] || compopt -o filenames 2>/dev/null
  return 0
}}
complete -F _{0} {0}
)";

std::string bash_slot(const Slot& slot) {
  std::string text;
  if (!slot.words.empty())
    text += fmt::format(" words='{}'", fmt::join(slot.words, " "));
  if (!slot.suffixes.empty())
    text += fmt::format(" suffixes=('{}')", fmt::join(slot.suffixes, "' '"));
  if (slot.directories) text += " directories=1";
  return text;
}

std::string bash(const std::string& program,
                 const std::vector<Command>& commands) {
  constexpr int kMany = 9999;
  std::string text = fmt::format(kBashBefore, program);
  for (const Command& command : commands) {
    for (const Option& option : command.options) {
      if (!option.takes_value) continue;
      for (const std::string& name : option.names())
        text +=
            fmt::format("    '{} {}') most={}{} ;;\n", command.name, name,
                        option.value.many ? kMany : 1, bash_slot(option.value));
    }
  }
  text += kBashBetween;
  for (const Command& command : commands)
    text += fmt::format(
        "      '{0}')\n"
        "        if [[ $cur == -* ]]; then words='{1}'\n"
        "        else :{2}; fi ;;\n",
        command.name, fmt::join(command.option_names, " "),
        command.positional.words.empty() && !command.positional.directories
            ? ""
            : ";" + bash_slot(command.positional));
  return text + fmt::format(kBashAfter, program);
}

// ----------------------------------------------------------------- zsh

constexpr const char* kZshBefore = R"(#compdef {0}
# zsh completion for {0}, from '{0} completion zsh'
_{0}() {{
  local curcontext=$curcontext state line
  local -a commands
  typeset -A opt_args
)";

constexpr const char* kZshAfter = R"(
# Found in $fpath it is the function's own body; sourced it registers it.
if [ "$funcstack[1]" = "_{0}" ]; then
  _{0} "$@"
else
  compdef _{0} {0}
fi
)";

// ":message:action", for what _arguments should offer.
std::string zsh_slot(const Slot& slot) {
  if (!slot.words.empty())
    return fmt::format(":word:({})", fmt::join(slot.words, " "));
  if (slot.suffixes == std::vector<std::string>{""}) return ":file:_files";
  if (!slot.suffixes.empty())
    return fmt::format(":file:_files -g \"*({})\"",
                       fmt::join(slot.suffixes, "|"));
  return slot.directories ? ":directory:_files -/" : ":value: ";
}

std::string zsh_options(const Command& command) {
  std::string text;
  for (const Option& option : command.options) {
    for (const std::string& name : option.names()) {
      text += fmt::format(" \\\n        '{}[{}]", name,
                          escaped(option.brief(), "[]:\\"));
      // Several values end where the next option begins.
      if (option.takes_value)
        text += (option.value.many ? ":*-*" : "") + zsh_slot(option.value);
      text += "'";
    }
  }
  return text;
}

std::string zsh(const std::string& program,
                const std::vector<Command>& commands) {
  std::string text = fmt::format(kZshBefore, program);
  const Command& top = commands.front();
  text += "  commands=(\n";
  for (const Command& command : commands) {
    if (!command.name.empty())
      text += fmt::format("    '{}:{}'\n", command.name,
                          escaped(command.brief(), ":"));
  }
  text += "  )\n  _arguments -C" + zsh_options(top) +
          " \\\n        '1:command:->command' '*::argument:->argument'\n"
          "  case $state in\n"
          "    command) _describe command commands ;;\n"
          "    argument)\n      case $words[1] in\n";
  for (const Command& command : commands) {
    if (command.name.empty()) continue;
    text += fmt::format("      {}) _arguments{} \\\n        '{}{}' ;;\n",
                        command.name, zsh_options(command),
                        command.positional.many ? "*" : "1",
                        zsh_slot(command.positional));
  }
  return text + "      esac ;;\n  esac\n}\n" + fmt::format(kZshAfter, program);
}

// ---------------------------------------------------------------- fish

constexpr const char* kFishBefore =
    R"(# fish completion for {0}, from '{0} completion fish'
function __{0}_files
  set -l found (complete -C "__fish_command_without_completions "(commandline -ct))
  for suffix in $argv
    string match -- "*$suffix" $found
  end
  string match -- '*/' $found
end
complete -c {0} -f
)";

std::string fish_slot(const std::string& program, const Slot& slot) {
  if (!slot.words.empty())
    return fmt::format(" -x -a '{}'", fmt::join(slot.words, " "));
  if (slot.suffixes == std::vector<std::string>{""}) return " -r -F";
  if (!slot.suffixes.empty())
    return fmt::format(" -x -a '(__{}_files {})'", program,
                       fmt::join(slot.suffixes, " "));
  return slot.directories ? " -x -a '(__fish_complete_directories)'" : " -x";
}

std::string fish_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string fish(const std::string& program,
                 const std::vector<Command>& commands) {
  std::string text = fmt::format(kFishBefore, program);
  for (const Command& command : commands) {
    const std::string where =
        command.name.empty()
            ? fmt::format("complete -c {} -n __fish_use_subcommand", program)
            : fmt::format("complete -c {} -n '__fish_seen_subcommand_from {}'",
                          program, command.name);
    for (const Option& option : command.options) {
      text += where;
      for (const std::string& name : option.long_names) text += " -l " + name;
      for (const std::string& name : option.short_names) text += " -s " + name;
      text += fmt::format(" -d '{}'", fish_text(option.brief()));
      text +=
          (option.takes_value ? fish_slot(program, option.value) : "") + "\n";
    }
    if (!command.name.empty()) {
      text += where + fish_slot(program, command.positional) + "\n";
      text +=
          fmt::format("complete -c {} -n __fish_use_subcommand -a {} -d '{}'\n",
                      program, command.name, fish_text(command.brief()));
    }
  }
  return text;
}

}  // namespace

std::string completion(const CLI::App& app, std::string_view shell) {
  const std::vector<Command> commands = commands_of(app);
  if (shell == "zsh") return zsh(app.get_name(), commands);
  if (shell == "fish") return fish(app.get_name(), commands);
  return bash(app.get_name(), commands);
}

}  // namespace berth::cli
