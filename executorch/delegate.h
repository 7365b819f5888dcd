// One loaded delegate: a Model, and ExecuTorch's values turned into its tensors
// and back.
#pragma once

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/named_data_map.h>
#include <executorch/runtime/core/span.h>

#include <string_view>
#include <utility>

#include "berth/model.h"
#include "executorch/payload.h"

namespace berth::executorch {

// Owns     the model. The program's named data may go after load().
// Threads  execute() from any; as many overlap as the model has replicas. Each
//          call needs values of its own.
// Fails    as Model does; kNotFound when the named data lacks a key,
//          kInvalidArgument when values are not what the model takes or the
//          program has no room for what it gives.
class Delegate {
 public:
  using Values = ::executorch::runtime::Span<::executorch::runtime::EValue*>;

  static Result<Delegate> load(
      const Payload& payload,
      const ::executorch::runtime::NamedDataMap* named_data,
      const ModelOptions& options);

  // `values` are the inputs, then the outputs, which are resized.
  Status execute(Values values);

  const Model& model() const noexcept { return model_; }

 private:
  explicit Delegate(Model model) : model_(std::move(model)) {}

  Model model_;
};

}  // namespace berth::executorch
