// `berth check`: whether this machine can run a file, and everything that is
// missing if it cannot. Nothing is mapped or run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "berth/result.h"

namespace berth::cli {

struct CheckOptions {
  std::vector<std::string> paths;       // .pt2, .pte, or libraries (.so).
  std::vector<std::string> data_paths;  // .ptd files, or one weights blob.
  std::string model_name;               // Of packages; empty: all models.
  bool json = false;
};

// Prints what it found, all of it. Returns the first problem's code, nothing
// when everything can be run.
std::optional<Code> check(const CheckOptions& options);

}  // namespace berth::cli
