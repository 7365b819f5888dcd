// `berth inspect`: what a program or a library is and needs, without running
// or mapping it.
#pragma once

#include <string>
#include <vector>

#include "berth/result.h"

namespace berth::cli {

struct InspectOptions {
  std::string path;                     // .pt2, .pte, or a library (.so).
  std::vector<std::string> data_paths;  // .ptd
  std::string model_name;               // Of a package; empty: all models.
  bool json = false;
};

Status inspect(const InspectOptions& options);

}  // namespace berth::cli
