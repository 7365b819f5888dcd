// Runs what AOTInductor compiled, without libtorch:
//   run_library model.pt2, or model.so
#include <berth/model.h>

#include <iostream>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  berth::Result<berth::Model> model = berth::Model::load_file(argv[1]);
  if (!model) {
    std::cerr << model.error() << '\n';
    return 1;
  }
  const std::int64_t sizes[] = {2, 64};
  std::vector<float> values(2 * 64, 0.5f);
  const berth::Result<berth::Tensor> input =
      berth::Tensor::borrow(values.data(), values.size() * sizeof(float), sizes,
                            {}, berth::DType::kFloat32);
  if (!input) return 1;
  const auto outputs = model->run({{*input}});
  if (!outputs) {
    std::cerr << outputs.error() << '\n';
    return 1;
  }
  const berth::Tensor& first = outputs->front();
  std::cout << first.numel() << " numbers, the first is "
            << static_cast<const float*>(first.data())[0] << '\n';
}
