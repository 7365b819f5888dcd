// One way to run a file of each kind: an ExecuTorch program on the ExecuTorch
// runtime, a package or a bare library on a Model.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "berth/options.h"
#include "berth/result.h"
#include "berth/signature.h"
#include "berth/tensor.h"

namespace berth::cli {

struct Source {
  std::string path;                     // .pt2, .pte, or a library (.so).
  std::vector<std::string> data_paths;  // .ptd files, or one weights blob.
  std::string model_name;               // Of a package.
  std::string method = "forward";       // Of a program.
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

  // What run() takes, in order.
  virtual const std::vector<TensorSpec>& inputs() const = 0;

  // How inputs and outputs nest in the exported module; empty for programs.
  virtual CallSpec call_spec() const { return {}; }

  // Row-major inputs in, row-major copies of the outputs out.
  virtual Result<std::vector<Tensor>> run(std::span<const Tensor> inputs) = 0;
};

}  // namespace berth::cli
