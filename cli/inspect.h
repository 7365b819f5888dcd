// `berth inspect`: what a program or a library is and needs, without running
// or mapping it.
#pragma once

#include <string>
#include <vector>

#include "berth/result.h"

namespace berth::cli {

struct InspectOptions {
  std::string path;                     // .pte, or a library (.so).
  std::vector<std::string> data_paths;  // .ptd
  bool json = false;
};

Status inspect(const InspectOptions& options);

}  // namespace berth::cli
