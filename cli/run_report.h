// What `berth run` has to tell, and telling it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "berth/process.h"
#include "berth/signature.h"
#include "cli/compare.h"
#include "cli/run.h"

namespace berth::cli {

struct OutputReport {
  std::string description;
  bool compared = false;
  Difference difference;
};

struct RunReport {
  std::vector<LoadedLibrary> libraries;
  std::vector<std::string> libtorch;
  std::vector<TensorSpec> inputs;
  CallSpec call_spec;
  std::vector<OutputReport> outputs;
  double load_us = 0;
  double first_run_us = 0;
  double median_run_us = 0;  // Of the runs after the first; 0 without.
  double runs_per_second = 0;
  std::size_t differing_runs = 0;  // Of those that several threads made.
  std::size_t resident_bytes = 0;
  std::vector<std::string> left_files;
  std::vector<PinnedLibrary> left_mapped;

  bool agrees() const;
};

// To stdout.
void print_table(const RunOptions& options, const RunReport& report);
void print_json(const RunOptions& options, const RunReport& report);

}  // namespace berth::cli
