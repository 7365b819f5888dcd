#include "berth/model.h"

#include <mutex>
#include <optional>
#include <utility>

#include "model/call_spec.h"
#include "model/companions.h"
#include "model/input_probe.h"
#include "model/input_rule.h"
#include "model/process_host.h"
#include "model/replica.h"
#include "model/replica_pool.h"
#include "tensor/copy.h"

namespace berth {
namespace {

constexpr std::size_t kMostReplicas = 1024;

// What a run returns may live in memory that is not Berth's: an input handed
// through, or a constant inside the library. Such a result is copied, so that
// it outlives both.
Result<Tensor> own(Tensor tensor) {
  if (tensor.owns_memory() || !tensor.has_storage()) return tensor;
  return tensor.clone();
}

// Names, paths where each leaf of the call spec is a tensor, and `specs`.
std::vector<TensorSpec> describe(const std::vector<std::string>& names,
                                 std::vector<std::string> paths,
                                 std::vector<TensorSpec> specs) {
  specs.resize(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    specs[i].name = names[i];
    if (paths.size() == names.size()) specs[i].path = std::move(paths[i]);
  }
  return specs;
}

// Gives what the model has written to a copy of an input back to the input.
Status write_back(const Tensor& copy, const Tensor& input) {
  if (tensor::equal_elements(
          input.sizes(), element_size(input.dtype()),
          static_cast<const std::byte*>(copy.data()), copy.strides(),
          static_cast<const std::byte*>(input.data()), input.strides()))
    return ok();
  Tensor target(input);
  return target.copy_from(copy);
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
                                            const model::Companions& with,
                                            const ModelOptions& options);

  // Runs, then hands each output to `take(i, Tensor&&)`, which may fail.
  template <typename Take>
  Status run(std::span<const Tensor> inputs, Take&& take);

  Status close();

  const std::vector<TensorSpec>& inputs() const { return inputs_; }
  const std::vector<TensorSpec>& outputs() const { return outputs_; }
  const CallSpec& call_spec() const { return call_spec_; }
  const std::vector<model::Replica>& replicas() const { return replicas_; }

 private:
  void learn(model::Replica& replica, std::span<const std::byte> image);

  // Inputs to run with, where some of `inputs` cannot be given as they are;
  // empty when all can.
  Result<std::vector<Tensor>> fit(std::span<const Tensor> inputs) const;

  model::ReplicaPool pool_;
  std::mutex closing_;
  std::vector<model::Replica> replicas_;
  // Copies, so that a closed model still answers.
  std::vector<TensorSpec> inputs_;
  std::vector<TensorSpec> outputs_;
  CallSpec call_spec_;
  std::vector<model::InputRule> rules_;  // One an input.
};

Result<std::unique_ptr<Model::Impl>> Model::Impl::load(
    std::span<const std::byte> image, const model::Companions& with,
    const ModelOptions& options) {
  const std::size_t count = options.replicas;
  if (count == 0 || count > kMostReplicas)
    return fail(Code::kInvalidArgument, "expected 1 to ", kMostReplicas,
                " replicas, found ", count);
  auto impl = std::make_unique<Impl>(options);
  std::vector<model::Replica>& replicas = impl->replicas_;
  const model::ProcessHost host(with.calls.get());
  BERTH_TRY(model::Replica first,
            model::Replica::load(image, with, host, options));
  std::optional<model::SharedConstants> constants;
  if (count > 1) {
    BERTH_TRY(constants, first.share_constants());
  }
  impl->learn(first, image);
  replicas.push_back(std::move(first));
  while (replicas.size() < count) {
    auto next = constants ? model::Replica::load_on(*constants, image,
                                                    with.calls, host, options)
                          : model::Replica::load(image, with, host, options);
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

void Model::Impl::learn(model::Replica& replica,
                        std::span<const std::byte> image) {
  model::Container& container = replica.container();
  call_spec_ = container.call_spec();
  inputs_ =
      describe(container.input_names(), model::input_paths(call_spec_.inputs),
               model::checks_inputs(image) ? model::probe_inputs(container)
                                           : std::vector<TensorSpec>());
  outputs_ = describe(container.output_names(),
                      model::output_paths(call_spec_.outputs), {});
  for (const TensorSpec& input : inputs_) rules_.emplace_back(input);
}

Result<std::vector<Tensor>> Model::Impl::fit(
    std::span<const Tensor> inputs) const {
  std::vector<Tensor> fitted;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (rules_[i].fits(inputs[i])) continue;
    if (fitted.empty()) fitted.assign(inputs.begin(), inputs.end());
    auto fit = rules_[i].fit(inputs[i]);
    if (!fit) {
      fit.error().note("checking input " + std::to_string(i));
      return tl::unexpected<Error>(std::move(fit).error());
    }
    fitted[i] = std::move(*fit);
  }
  return fitted;
}

template <typename Take>
Status Model::Impl::run(std::span<const Tensor> inputs, Take&& take) {
  if (inputs.size() != inputs_.size())
    return fail(Code::kInvalidArgument, "the model takes ", inputs_.size(),
                " inputs, found ", inputs.size());
  BERTH_TRY(const std::vector<Tensor> fitted, fit(inputs));
  BERTH_TRY(const auto lease, pool_.acquire());
  model::Replica& replica = replicas_[lease.index()];
  BERTH_CHECK(replica.run(fitted.empty() ? inputs : fitted));
  Status status = ok();
  for (std::size_t i = 0; i < fitted.size() && status; ++i) {
    if (!fitted[i].shares_storage_with(inputs[i]))
      status = write_back(fitted[i], inputs[i]);
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
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
  return load_with(library, {model::Weights(weights), nullptr}, options);
}

Result<Model> Model::load_with(std::span<const std::byte> library,
                               const model::Companions& with,
                               const ModelOptions& options) {
  const std::string note = options.label.empty()
                               ? "loading a model"
                               : "loading '" + options.label + "'";
  BERTH_TRY(auto impl, noted(Impl::load(library, with, options), note));
  return Model(std::move(impl));
}

const std::vector<TensorSpec>& Model::inputs() const noexcept {
  return impl_->inputs();
}
const std::vector<TensorSpec>& Model::outputs() const noexcept {
  return impl_->outputs();
}
const CallSpec& Model::call_spec() const noexcept { return impl_->call_spec(); }
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
  outputs.reserve(impl_->outputs().size());
  BERTH_CHECK(impl_->run(inputs, [&](std::size_t, Tensor&& output) -> Status {
    BERTH_TRY(Tensor owned, own(std::move(output)));
    outputs.push_back(std::move(owned));
    return ok();
  }));
  return outputs;
}

Status Model::run(std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const std::size_t count = impl_->outputs().size();
  if (outputs.size() != count)
    return fail(Code::kInvalidArgument, "the model gives ", count,
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
