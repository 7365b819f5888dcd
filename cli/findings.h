// What stands between a file and running it, found without mapping anything.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"

namespace berth::cli {

// One thing that is missing or wrong.
struct Finding {
  Code code;
  std::string text;
};

// One thing that a file holds. A file that cannot be read has one, unnamed.
struct Part {
  std::string name;  // For example "method forward"; empty: the file itself.
  std::vector<Finding> findings;
  std::vector<std::string> not_served;  // The library's imports among them.
};

struct FileFindings {
  std::string path;
  std::string kind;  // "package", "program", "library"; empty: not known.
  std::vector<Part> parts;

  // The first finding's code, nothing when there is none.
  std::optional<Code> first() const;
};

Finding finding_of(const Error& error);

// Everything that keeps this process from mapping `library`. `instruction_set`
// is what it was compiled for, or empty when nobody knows; `operators` the list
// of those that it calls by name. What Berth does not
// serve comes last, as `berth run` counts it least.
Part examine_library(std::string name, std::span<const std::byte> library,
                     std::string_view instruction_set = {},
                     std::span<const std::byte> operators = {});

}  // namespace berth::cli
