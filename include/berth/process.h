// What Berth holds in this process at this moment: for tests of leaks, for
// `berth run`, and for whoever wonders what is mapped.
#pragma once

#include <string>
#include <vector>

#include "berth/export.h"

namespace berth {

// A library that is mapped now. A value.
struct LoadedLibrary {
  // What the loader opened: the private file, or, in memory, a path below
  // /proc/self/fd that means something to this process only.
  std::string path;
  bool in_memory = false;
  // Why it is in memory although a file was to be tried first; else empty.
  std::string fallback_reason;
};

// A library that was closed and that the loader kept nonetheless. A value.
struct PinnedLibrary {
  std::string path;
  std::string reason;  // As far as it can be told.
};

// A snapshot; a value.
// Threads  now() may be called from any; models loaded or destroyed meanwhile
//          may be in it or not.
struct BERTH_API ProcessState {
  // One for each replica of each model; in no order.
  std::vector<LoadedLibrary> libraries;

  // Those that are still mapped, oldest first. Berth's edits prevent the known
  // causes, so one here without a holder of yours is worth a report.
  std::vector<PinnedLibrary> pinned;

  static ProcessState now();
};

}  // namespace berth
