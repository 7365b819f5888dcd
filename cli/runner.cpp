#include "cli/runner.h"

#include <utility>

#include "berth/model.h"
#include "cli/files.h"
#include "cli/program_runner.h"

namespace berth::cli {
namespace {

class ModelRunner final : public Runner {
 public:
  explicit ModelRunner(Model model) : model_(std::move(model)) {}

  const std::vector<TensorSpec>& inputs() const override {
    return model_.inputs();
  }

  CallSpec call_spec() const override { return model_.call_spec(); }

  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs) override {
    return model_.run(inputs);
  }

 private:
  Model model_;
};

Result<ModelOptions> options_of(const Source& source) {
  ModelOptions options;
  options.label = source.path;
  options.temp_directory = source.temp_directory;
  options.model_name = source.model_name;
  if (!source.placement.empty()) {
    BERTH_TRY(options.placement, parse_placement(source.placement));
  }
  options.replicas = static_cast<std::size_t>(source.replicas);
  return options;
}

Result<Model> load_library(const Source& source) {
  if (source.data_paths.size() > 1)
    return fail(Code::kInvalidArgument,
                "a library takes one weights blob, found ",
                source.data_paths.size());
  BERTH_TRY(const auto image, read_file(source.path));
  std::vector<std::byte> weights;
  if (!source.data_paths.empty()) {
    BERTH_TRY(weights, read_file(source.data_paths.front()));
  }
  BERTH_TRY(const ModelOptions options, options_of(source));
  return Model::load(image, weights, options);
}

Result<Model> load_package(const Source& source) {
  if (!source.data_paths.empty())
    return fail(Code::kInvalidArgument,
                "a package holds its weights, found data '",
                source.data_paths.front(), "'");
  BERTH_TRY(const ModelOptions options, options_of(source));
  return Model::load_file(source.path, options);
}

}  // namespace

Result<std::unique_ptr<Runner>> Runner::load(const Source& source) {
  BERTH_TRY(const FileKind kind, kind_of(source.path));
  if (kind != FileKind::kPackage && !source.model_name.empty())
    return fail(Code::kInvalidArgument, "'", source.path,
                "' is no package: it has no model '", source.model_name, "'");
  if (kind == FileKind::kProgram) return load_program(source);
  BERTH_TRY(Model model, kind == FileKind::kPackage ? load_package(source)
                                                    : load_library(source));
  return std::make_unique<ModelRunner>(std::move(model));
}

}  // namespace berth::cli
