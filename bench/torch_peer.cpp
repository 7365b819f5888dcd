// torch's own C++ loader on a package: torch_peer model.pt2 rows columns
#include <ATen/Functions.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <string>
#include <vector>

#include "bench/peer.h"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const c10::InferenceMode guard;
  torch::inductor::AOTIModelPackageLoader loader(argv[1]);
  const std::vector<at::Tensor> inputs = {
      at::full({std::stol(argv[2]), std::stol(argv[3])}, 0.5f)};
  return bench::measure(
      [&] { return loader.run(inputs)[0].const_data_ptr<float>()[0]; });
}
