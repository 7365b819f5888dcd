#include "cli/help.h"

#include <algorithm>
#include <sstream>

#include "cli/grammar.h"

namespace berth::cli {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kColumn = 24;  // Where descriptions begin.

// `text` in lines of at most kWidth, all but the first behind `indent` spaces;
// the first begins at column `at`.
std::string wrapped(const std::string& text, std::size_t at,
                    std::size_t indent) {
  std::istringstream words(text);
  std::string lines;
  std::size_t column = at;
  bool is_first = true;
  for (std::string word; words >> word; is_first = false) {
    if (!is_first && column + 1 + word.size() > kWidth) {
      lines += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!is_first) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
  }
  return lines;
}

std::string row(const std::string& name, const std::string& description) {
  std::string line = "  " + name;
  // Two spaces at least, or a line of its own.
  line += line.size() + 2 <= kColumn ? std::string(kColumn - line.size(), ' ')
                                     : '\n' + std::string(kColumn, ' ');
  return line + wrapped(description, kColumn, kColumn) + '\n';
}

// "FILE{.npy,.npz}" is FILE, "TEXT:{a,b}" is a|b, "N:POSITIVE" is N.
std::string value_name(const CLI::Option& option) {
  std::string name = option.get_type_name();
  const std::size_t set = name.find(":{");
  if (set == std::string::npos) return name.substr(0, name.find_first_of("{:"));
  name = name.substr(set + 2, name.find('}') - set - 2);
  std::ranges::replace(name, ',', '|');
  return name;
}

std::string positional_name(const CLI::Option& option) {
  const std::string name = option.get_name(true);
  return takes_many(option) ? name + "..." : name;
}

}  // namespace

std::string HelpFormatter::make_usage(const CLI::App* app,
                                      std::string name) const {
  std::string line = "Usage: " + name + " [OPTION]...";
  for (const CLI::Option* option : app->get_options(
           [](const CLI::Option* o) { return o->get_positional(); }))
    line += " " + positional_name(*option);
  if (!app->get_subcommands({}).empty()) line += " COMMAND";
  return line + "\n";
}

std::string HelpFormatter::make_option(const CLI::Option* option,
                                       bool is_positional) const {
  std::string description = option->get_description();
  if (is_positional) return row(positional_name(*option), description);
  std::string name = option->get_name(false, true);
  if (const std::size_t comma = name.find(','); comma != std::string::npos)
    name.insert(comma + 1, " ");
  if (option->get_items_expected_max() > 0) name += " " + value_name(*option);
  if (takes_many(*option)) name += "...";
  if (!option->get_default_str().empty())
    description += " (default: " + option->get_default_str() + ")";
  return row(name, description);
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  return row(command->get_name(), command->get_description());
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode) const {
  std::string text = make_usage(app, std::move(name));
  text += "\n" + wrapped(app->get_description() + ".", 0, 0) + "\n";
  const auto group = [&text](const char* title, const auto& parts,
                             const auto& make) {
    if (parts.empty()) return;
    text += "\n" + std::string(title) + ":\n";
    for (const auto* part : parts) text += make(part);
  };
  group("Commands", app->get_subcommands({}),
        [this](const CLI::App* command) { return make_subcommand(command); });
  group(
      "Arguments", app->get_options([](const CLI::Option* option) {
        return option->get_positional();
      }),
      [this](const CLI::Option* option) { return make_option(option, true); });
  group(
      "Options", app->get_options([](const CLI::Option* option) {
        return option->nonpositional();
      }),
      [this](const CLI::Option* option) { return make_option(option, false); });
  const std::string footer = app->get_footer();
  if (footer.empty()) return text;
  // A table is laid out already.
  const bool is_table = footer.find('\n') != std::string::npos;
  return text + "\n" + (is_table ? footer : wrapped(footer, 0, 0) + "\n");
}

}  // namespace berth::cli
