// Scripts that make shells complete the command's words.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace berth::cli {

// For "bash", "zsh" or "fish": the commands, options, words and files that
// `app` knows, by what declare() (arguments.h) wrote into it.
std::string completion(const CLI::App& app, std::string_view shell);

}  // namespace berth::cli
