// What `berth inspect` says of a library, wherever it was found.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "berth/inspection.h"

namespace berth::cli {

nlohmann::ordered_json to_json(const Inspection& library);

// To stdout, for people.
void print_library(const Inspection& library);

// The same of one among several: a library that cannot be read is what an
// inspection is for, not its end.
void print_library(const Result<Inspection>& library);

// Into `json`, as "library" or "error".
void add_library(const Result<Inspection>& library,
                 nlohmann::ordered_json& json);

// A line "title  a, b, c", broken where it is long.
void print_list(std::string_view title, const std::vector<std::string>& items);

}  // namespace berth::cli
