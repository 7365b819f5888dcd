// Berth on a package: berth_peer model.pt2 rows columns
#include <iostream>
#include <string>
#include <vector>

#include "bench/peer.h"
#include "berth/model.h"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  auto model = berth::Model::load_file(argv[1]);
  if (!model) {
    std::cerr << model.error() << '\n';
    return 1;
  }
  const std::int64_t sizes[] = {std::stol(argv[2]), std::stol(argv[3])};
  std::vector<float> values(static_cast<std::size_t>(sizes[0] * sizes[1]),
                            0.5f);
  const std::vector<berth::Tensor> inputs = {
      *berth::Tensor::borrow(values.data(), values.size() * sizeof(float),
                             sizes, {}, berth::DType::kFloat32)};
  std::vector<berth::Tensor> outputs(model->outputs().size());
  return bench::measure([&] {
    outputs[0] = berth::Tensor();
    if (const auto status = model->run(inputs, outputs); !status) {
      std::cerr << status.error() << '\n';
      std::exit(1);
    }
    return static_cast<const float*>(outputs[0].data())[0];
  });
}
