#include "berth/model.h"

#include <mutex>
#include <optional>
#include <utility>

#include "base/file.h"
#include "model/process_host.h"
#include "model/replica.h"
#include "model/replica_pool.h"

namespace berth {
namespace {

constexpr std::size_t kMostReplicas = 1024;

// What a run returns may live in memory that is not Berth's: an input handed
// through, or a constant inside the library. Such a result is copied, so that
// it outlives both.
Result<Tensor> own(Tensor tensor) {
  if (tensor.owns_memory()) return tensor;
  return tensor.clone();
}

}  // namespace

class Model::Impl {
 public:
  explicit Impl(const ModelOptions& options)
      : pool_(options.replicas, options.when_busy) {
    replicas_.reserve(options.replicas);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  static Result<std::unique_ptr<Impl>> load(std::span<const std::byte> image,
                                            std::span<const std::byte> weights,
                                            const ModelOptions& options);

  // Runs, then hands each output to `take(i, Tensor&&)`, which may fail.
  template <typename Take>
  Status run(std::span<const Tensor> inputs, Take&& take);

  Status close();

  const std::vector<std::string>& input_names() const { return input_names_; }
  const std::vector<std::string>& output_names() const { return output_names_; }
  const std::vector<model::Replica>& replicas() const { return replicas_; }

 private:
  model::ReplicaPool pool_;
  std::mutex closing_;
  std::vector<model::Replica> replicas_;
  // Copies, so that a closed model still answers.
  std::vector<std::string> input_names_;
  std::vector<std::string> output_names_;
};

Result<std::unique_ptr<Model::Impl>> Model::Impl::load(
    std::span<const std::byte> image, std::span<const std::byte> weights,
    const ModelOptions& options) {
  const std::size_t count = options.replicas;
  if (count == 0 || count > kMostReplicas)
    return fail(Code::kInvalidArgument, "expected 1 to ", kMostReplicas,
                " replicas, found ", count);
  auto impl = std::make_unique<Impl>(options);
  std::vector<model::Replica>& replicas = impl->replicas_;
  const model::ProcessHost host;
  BERTH_TRY(model::Replica first,
            model::Replica::load(image, weights, host, options));
  impl->input_names_ = first.container().input_names();
  impl->output_names_ = first.container().output_names();
  std::optional<model::SharedConstants> constants;
  if (count > 1) {
    BERTH_TRY(constants, first.share_constants());
  }
  replicas.push_back(std::move(first));
  while (replicas.size() < count) {
    auto next = constants
                    ? model::Replica::load_on(*constants, image, host, options)
                    : model::Replica::load(image, weights, host, options);
    if (!next) {
      next.error().note("loading replica " +
                        std::to_string(replicas.size() + 1) + " of " +
                        std::to_string(count));
      return tl::unexpected<Error>(std::move(next).error());
    }
    replicas.push_back(std::move(*next));
  }
  return impl;
}

template <typename Take>
Status Model::Impl::run(std::span<const Tensor> inputs, Take&& take) {
  if (inputs.size() != input_names_.size())
    return fail(Code::kInvalidArgument, "the model takes ", input_names_.size(),
                " inputs, found ", inputs.size());
  BERTH_TRY(const auto lease, pool_.acquire());
  model::Replica& replica = replicas_[lease.index()];
  BERTH_CHECK(replica.run(inputs));
  Status status = ok();
  for (std::size_t i = 0; i < output_names_.size(); ++i) {
    Tensor output = replica.take_output(i);
    if (status) status = take(i, std::move(output));
  }
  return status;
}

Status Model::Impl::close() {
  pool_.close();
  const std::lock_guard lock(closing_);
  Status status = ok();
  for (model::Replica& replica : replicas_) {
    Status closed = replica.close();
    if (status && !closed) status = std::move(closed);
  }
  return status;
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
  return impl_->replicas().front().path();
}
std::vector<std::string> Model::library_paths() const {
  std::vector<std::string> paths;
  for (const model::Replica& replica : impl_->replicas())
    paths.push_back(replica.path());
  return paths;
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
