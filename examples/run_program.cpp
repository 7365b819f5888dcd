// Runs an ExecuTorch program whose delegates are Berth's:
//   run_program quickstart.pte
// Linking berth::executorch is what registers the backend.
#include <berth/executorch.h>
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>

#include <iostream>
#include <vector>

using executorch::extension::from_blob;
using executorch::extension::Module;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  Module program(argv[1]);
  std::vector<float> values(2 * 64, 0.5f);
  const auto outputs = program.forward(from_blob(values.data(), {2, 64}));
  if (!outputs.ok()) {
    if (const auto error = berth::executorch::take_last_error())
      std::cerr << *error << '\n';
    return 1;
  }
  const auto first = outputs->front().toTensor();
  std::cout << first.numel() << " numbers, the first is "
            << first.const_data_ptr<float>()[0] << '\n';
}
