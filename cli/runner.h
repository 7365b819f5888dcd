// One way to run a file of each kind: an ExecuTorch program on the ExecuTorch
// runtime, or a bare library on a Model.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "berth/options.h"
#include "berth/result.h"
#include "berth/tensor.h"

namespace berth::cli {

struct Source {
  std::string path;                     // .pte, or a library (.so).
  std::vector<std::string> data_paths;  // .ptd files, or one weights blob.
  std::string method;                   // Of a program; "forward" by default.
  std::string temp_directory;
  std::string placement;  // As parse_placement() reads it; empty: the default.
  int replicas = 1;       // Of each library.
};

// Owns     what it loaded; destroying it closes everything.
// Threads  any for a library's, one for a program's.
class Runner {
 public:
  static Result<std::unique_ptr<Runner>> load(const Source& source);
  virtual ~Runner() = default;

  // Row-major inputs in, row-major copies of the outputs out.
  virtual Result<std::vector<Tensor>> run(std::span<const Tensor> inputs) = 0;
};

// True when the file at `path` is a program by its first bytes.
Result<bool> is_program(const std::string& path);

}  // namespace berth::cli
