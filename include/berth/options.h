// How a model is loaded.
#pragma once

#include <string>

namespace berth {

// A value. The defaults are right for nearly everyone.
struct ModelOptions {
  // Directory in which the library's private file is made. Empty: the
  // environment's BERTH_TMPDIR, then TMPDIR, then /tmp.
  std::string temp_directory;

  // First part of the file's name, <prefix>_<pid>_<counter>.so. Letters,
  // digits, '-' and '_' only.
  std::string file_prefix = "berth";

  // What to call the model in errors, for example a path and a method.
  std::string label;

  // The instruction set that the exporter recorded ("AVX2", "AVX512", ...).
  // Empty: unknown, not checked.
  std::string instruction_set;
};

}  // namespace berth
