// Delegates of compiled programs as bare models, and inputs on which they fail.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "berth/model.h"
#include "executorch/program.h"
#include "support/models.h"

namespace berth::testing {

// The library and the weights of a program's first delegate.
inline Result<Model> load_delegate(const std::string& name,
                                   const ModelOptions& options = {}) {
  const auto bytes = read(model_path(name, "model.pte"));
  BERTH_TRY(const auto program, executorch::Program::parse(bytes));
  const auto& delegate = program.methods()[0].delegates[0];
  const auto find = [&](const std::string& key) {
    const auto found = program.named_data().find(key);
    return found == program.named_data().end() ? std::span<const std::byte>()
                                               : found->second;
  };
  return Model::load(find(delegate.library_key), find(delegate.weights_key),
                     options);
}

// Inputs of a division model of which one element divides by zero.
inline std::vector<Tensor> dividing_by_zero(
    const std::string& name = "int_div") {
  const auto inputs = tensors(name, "in");
  std::vector<Tensor> zeros = {*inputs[0].clone(), *inputs[1].clone()};
  static_cast<std::int64_t*>(zeros[1].data())[5] = 0;
  return zeros;
}

// Delegates write each caught failure to stderr; thousands of them say nothing.
class QuietStderr {
 public:
  QuietStderr()
      : kept_(::dup(2)), null_(::open("/dev/null", O_WRONLY | O_CLOEXEC)) {
    ::dup2(null_.get(), 2);
  }
  ~QuietStderr() { ::dup2(kept_.get(), 2); }
  QuietStderr(const QuietStderr&) = delete;
  QuietStderr& operator=(const QuietStderr&) = delete;

 private:
  base::Descriptor kept_;
  base::Descriptor null_;
};

}  // namespace berth::testing
