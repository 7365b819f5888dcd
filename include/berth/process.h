// What Berth holds in this process at this moment: for tests of leaks, for
// `berth run`, and for whoever wonders what is mapped.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "berth/export.h"

namespace berth {

// A snapshot; a value.
// Threads  now() may be called from any; models loaded or destroyed meanwhile
//          may be in it or not.
struct BERTH_API ProcessState {
  // The private file of every library that is mapped now.
  std::vector<std::string> library_paths;

  // Libraries that were closed and that the loader kept nonetheless, since the
  // process began. Berth's edits prevent the known causes, so more than 0 here
  // is worth a report.
  std::size_t pinned_libraries = 0;

  static ProcessState now();
};

}  // namespace berth
