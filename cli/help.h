// How --help looks: as GNU's commands do, so that people and help2man can read
// it, in 80 columns.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace berth::cli {

// Threads  any; it has no state.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;

 protected:
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_option(const CLI::Option* option,
                          bool is_positional) const override;
  std::string make_subcommand(const CLI::App* command) const override;
};

}  // namespace berth::cli
