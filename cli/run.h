// `berth run`: loads a program or a library, runs it, compares and times it.
#pragma once

#include <string>
#include <vector>

#include "berth/result.h"
#include "cli/compare.h"
#include "cli/runner.h"

namespace berth::cli {

struct RunOptions {
  Source source;
  std::vector<std::string> inputs;    // .npy and .npz
  std::vector<std::string> expected;  // The same, one array an output, or none.
  Tolerance tolerance;
  std::string output;  // As write_arrays() takes it; empty: not written.
  int repeat = 1;
  int threads = 1;  // That share the runs after the first.
  bool json = false;
};

// Prints what happened and returns true when every output that had an expected
// value is within the tolerance, and every run on several threads gave what the
// first run did, within the tolerance.
Result<bool> run(const RunOptions& options);

}  // namespace berth::cli
