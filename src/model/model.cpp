#include "berth/model.h"

#include <mutex>
#include <optional>
#include <utility>

#include "base/file.h"
#include "library/library.h"
#include "model/container.h"
#include "model/process_host.h"
#include "shim/handle.h"

namespace berth {

class Model::Impl {
 public:
  Impl(library::Library library, model::Container container)
      : library_(std::move(library)),
        container_(std::move(container)),
        input_names_(container_->input_names()),
        output_names_(container_->output_names()),
        input_handles_(input_names_.size()),
        output_handles_(output_names_.size()) {}

  static Result<std::unique_ptr<Impl>> load(std::span<const std::byte> image,
                                            std::span<const std::byte> weights,
                                            const ModelOptions& options);

  // Runs, then hands each output to `take(i, Tensor&&)`, which may fail.
  template <typename Take>
  Status run(std::span<const Tensor> inputs, Take&& take);

  Status close();

  const std::vector<std::string>& input_names() const { return input_names_; }
  const std::vector<std::string>& output_names() const { return output_names_; }
  const library::Library& library() const { return library_; }

 private:
  std::mutex mutex_;  // One run at a time: a container is not for two.
  library::Library library_;
  std::optional<model::Container> container_;  // Dies before its library.
  // Copies, so that a closed model still answers.
  std::vector<std::string> input_names_;
  std::vector<std::string> output_names_;
  // Reused by every run, so that the steady state allocates nothing.
  std::vector<AtenTensorHandle> input_handles_;
  std::vector<AtenTensorHandle> output_handles_;
};

namespace {

// What a run returns may live in memory that is not Berth's: an input handed
// through, or a constant inside the library. Such a result is copied, so that
// it outlives both.
Result<Tensor> own(Tensor tensor) {
  if (tensor.owns_memory()) return tensor;
  return tensor.clone();
}

}  // namespace

Result<std::unique_ptr<Model::Impl>> Model::Impl::load(
    std::span<const std::byte> image, std::span<const std::byte> weights,
    const ModelOptions& options) {
  const model::ProcessHost host;
  BERTH_TRY(library::Library library,
            library::Library::open(image, host,
                                   model::Container::entry_points(), options));
  BERTH_TRY(model::Container container, model::Container::create(library));
  BERTH_CHECK(noted(container.give_constants(weights), "giving constants"));
  return std::make_unique<Impl>(std::move(library), std::move(container));
}

template <typename Take>
Status Model::Impl::run(std::span<const Tensor> inputs, Take&& take) {
  const std::lock_guard lock(mutex_);
  if (!container_) return fail(Code::kInvalidArgument, "the model is closed");
  if (inputs.size() != input_handles_.size())
    return fail(Code::kInvalidArgument, "the model takes ",
                input_handles_.size(), " inputs, found ", inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    input_handles_[i] = shim::wrap(Tensor(inputs[i]));
    if (input_handles_[i] != nullptr) continue;
    while (i > 0) shim::discard(std::exchange(input_handles_[--i], nullptr));
    return fail(Code::kOutOfMemory, "no memory for the handles of ",
                inputs.size(), " inputs");
  }
  BERTH_CHECK(container_->run(input_handles_, output_handles_));
  Status status = ok();
  for (std::size_t i = 0; i < output_handles_.size(); ++i) {
    Tensor output = shim::unwrap(std::exchange(output_handles_[i], nullptr));
    if (status) status = take(i, std::move(output));
  }
  return status;
}

Status Model::Impl::close() {
  const std::lock_guard lock(mutex_);
  container_.reset();
  return library_.close();
}

Model::Model(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

Result<Model> Model::load(std::span<const std::byte> library,
                          std::span<const std::byte> weights,
                          const ModelOptions& options) {
  const std::string note = options.label.empty()
                               ? "loading a model"
                               : "loading '" + options.label + "'";
  BERTH_TRY(auto impl, noted(Impl::load(library, weights, options), note));
  return Model(std::move(impl));
}

Result<Model> Model::load_file(const std::string& path,
                               const ModelOptions& options) {
  BERTH_TRY(const auto bytes, base::read_file(path));
  ModelOptions labelled = options;
  if (labelled.label.empty()) labelled.label = path;
  return load(bytes, {}, labelled);
}

std::size_t Model::input_count() const noexcept {
  return impl_->input_names().size();
}
std::size_t Model::output_count() const noexcept {
  return impl_->output_names().size();
}
const std::string& Model::input_name(std::size_t i) const {
  return impl_->input_names()[i];
}
const std::string& Model::output_name(std::size_t i) const {
  return impl_->output_names()[i];
}
const std::string& Model::library_path() const noexcept {
  return impl_->library().path();
}

Result<std::vector<Tensor>> Model::run(std::span<const Tensor> inputs) {
  std::vector<Tensor> outputs;
  outputs.reserve(output_count());
  BERTH_CHECK(impl_->run(inputs, [&](std::size_t, Tensor&& output) -> Status {
    BERTH_TRY(Tensor owned, own(std::move(output)));
    outputs.push_back(std::move(owned));
    return ok();
  }));
  return outputs;
}

Status Model::run(std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  if (outputs.size() != output_count())
    return fail(Code::kInvalidArgument, "the model gives ", output_count(),
                " outputs, room for ", outputs.size(), " was given");
  return impl_->run(inputs, [&](std::size_t i, Tensor&& output) -> Status {
    if (outputs[i].has_storage()) {
      Status copied = outputs[i].copy_from(output);
      if (!copied) copied.error().note("copying output " + std::to_string(i));
      return copied;
    }
    BERTH_TRY(outputs[i], own(std::move(output)));
    return ok();
  });
}

Status Model::close() { return impl_->close(); }

}  // namespace berth
