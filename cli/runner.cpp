#include "cli/runner.h"

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "berth/model.h"
#include "cli/files.h"
#include "cli/program_runner.h"

namespace berth::cli {
namespace {

class LibraryRunner final : public Runner {
 public:
  static Result<std::unique_ptr<Runner>> load(const Source& source) {
    if (source.data_paths.size() > 1)
      return fail(Code::kInvalidArgument,
                  "a library takes one weights blob, found ",
                  source.data_paths.size());
    BERTH_TRY(const auto image, read_file(source.path));
    std::vector<std::byte> weights;
    if (!source.data_paths.empty()) {
      BERTH_TRY(weights, read_file(source.data_paths.front()));
    }
    ModelOptions options;
    options.label = source.path;
    options.temp_directory = source.temp_directory;
    if (!source.placement.empty()) {
      BERTH_TRY(options.placement, parse_placement(source.placement));
    }
    options.replicas = static_cast<std::size_t>(source.replicas);
    BERTH_TRY(Model model, Model::load(image, weights, options));
    return std::make_unique<LibraryRunner>(std::move(model));
  }

  explicit LibraryRunner(Model model) : model_(std::move(model)) {}

  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs) override {
    return model_.run(inputs);
  }

 private:
  Model model_;
};

}  // namespace

Result<bool> is_program(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(Code::kNotFound, "cannot open '", path, "'");
  std::array<char, 8> head{};
  file.read(head.data(), head.size());
  constexpr std::array<char, 4> kElf = {'\x7f', 'E', 'L', 'F'};
  if (std::memcmp(head.data(), kElf.data(), kElf.size()) == 0) return false;
  if (std::memcmp(head.data() + 4, "ET", 2) == 0) return true;
  return fail(Code::kInvalidArgument, "'", path,
              "' is neither an ExecuTorch program (.pte) nor a library (.so)");
}

Result<std::unique_ptr<Runner>> Runner::load(const Source& source) {
  BERTH_TRY(const bool program, is_program(source.path));
  return program ? load_program(source) : LibraryRunner::load(source);
}

}  // namespace berth::cli
