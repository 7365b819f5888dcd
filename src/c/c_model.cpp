#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "berth/berth.h"
#include "c/c_options.h"
#include "c/guard.h"
#include "c/handles.h"
#include "c/sized.h"

using berth::Code;
using berth::Model;
using berth::ModelOptions;
using berth::Result;
using berth::SizeRange;
using berth::Status;
using berth::Tensor;
using berth::TensorSpec;
using berth::c::check;
using berth::c::guard;
using berth::c::read_options;

namespace {

// A spec's sizes are handed out as they are.
static_assert(sizeof(berth_size_range) == sizeof(SizeRange));
static_assert(offsetof(berth_size_range, least) == offsetof(SizeRange, least));
static_assert(offsetof(berth_size_range, most) == offsetof(SizeRange, most));

Status give(Result<Model> loaded, berth_model** out) {
  BERTH_TRY(Model model, std::move(loaded));
  *out = new berth_model{std::move(model)};
  return berth::ok();
}

std::span<const std::byte> bytes_of(const void* data, std::size_t size) {
  return {static_cast<const std::byte*>(data), size};
}

Status describe(const std::vector<TensorSpec>& specs, std::size_t i,
                berth_tensor_spec* out) {
  BERTH_CHECK(check({{out, "spec"}}));
  if (i >= specs.size())
    return berth::fail(Code::kInvalidArgument, "the model has ", specs.size(),
                       " of them, none is number ", i);
  const TensorSpec& spec = specs[i];
  berth_tensor_spec found{};
  found.name = spec.name.c_str();
  found.path = spec.path.c_str();
  if (spec.is_known) {
    found.dim = spec.sizes.size();
    found.sizes = reinterpret_cast<const berth_size_range*>(spec.sizes.data());
    found.strides = spec.strides.data();
    found.dtype = static_cast<berth_dtype>(spec.dtype);
    found.is_known = 1;
  }
  return berth::c::write_struct(found, out, "spec");
}

Result<std::vector<Tensor>> inputs_of(const berth_tensor* const* inputs,
                                      std::size_t count) {
  if (count > 0) BERTH_CHECK(check({{inputs, "inputs"}}));
  std::vector<Tensor> tensors;
  tensors.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (inputs[i] == nullptr)
      return berth::fail(Code::kInvalidArgument, "input ", i,
                         " must not be null");
    tensors.push_back(inputs[i]->tensor);
  }
  return tensors;
}

Status check_outputs(const Model& model, const void* outputs,
                     std::size_t count) {
  if (count > 0) BERTH_CHECK(check({{outputs, "outputs"}}));
  if (count == model.outputs().size()) return berth::ok();
  return berth::fail(Code::kInvalidArgument, "the model gives ",
                     model.outputs().size(), " outputs, room for ", count,
                     " was given");
}

}  // namespace

berth_code berth_model_load(const char* path, const berth_options* options,
                            berth_model** model) {
  return guard([&]() -> Status {
    BERTH_CHECK(check({{path, "path"}, {model, "model"}}));
    BERTH_TRY(const ModelOptions how, read_options(options));
    return give(Model::load_file(path, how), model);
  });
}

berth_code berth_model_load_from(const berth_package* package,
                                 const berth_options* options,
                                 berth_model** model) {
  return guard([&]() -> Status {
    BERTH_CHECK(check({{package, "package"}, {model, "model"}}));
    BERTH_TRY(const ModelOptions how, read_options(options));
    return give(Model::load(package->package, how), model);
  });
}

berth_code berth_model_load_bytes(const void* library, size_t library_size,
                                  const void* weights, size_t weights_size,
                                  const berth_options* options,
                                  berth_model** model) {
  return guard([&]() -> Status {
    BERTH_CHECK(check({{library, "library"}, {model, "model"}}));
    if (weights_size > 0) BERTH_CHECK(check({{weights, "weights"}}));
    BERTH_TRY(const ModelOptions how, read_options(options));
    return give(Model::load(bytes_of(library, library_size),
                            bytes_of(weights, weights_size), how),
                model);
  });
}

berth_code berth_model_count(const berth_model* model, size_t* inputs,
                             size_t* outputs) {
  return guard([&]() -> Status {
    BERTH_CHECK(
        check({{model, "model"}, {inputs, "inputs"}, {outputs, "outputs"}}));
    *inputs = model->model.inputs().size();
    *outputs = model->model.outputs().size();
    return berth::ok();
  });
}

berth_code berth_model_input(const berth_model* model, size_t i,
                             berth_tensor_spec* spec) {
  return guard([&]() -> Status {
    BERTH_CHECK(check({{model, "model"}}));
    return noted(describe(model->model.inputs(), i, spec),
                 "describing an input");
  });
}

berth_code berth_model_output(const berth_model* model, size_t i,
                              berth_tensor_spec* spec) {
  return guard([&]() -> Status {
    BERTH_CHECK(check({{model, "model"}}));
    return noted(describe(model->model.outputs(), i, spec),
                 "describing an output");
  });
}

berth_code berth_model_call_spec(const berth_model* model, const char** inputs,
                                 const char** outputs) {
  return guard([&]() -> Status {
    BERTH_CHECK(
        check({{model, "model"}, {inputs, "inputs"}, {outputs, "outputs"}}));
    *inputs = model->model.call_spec().inputs.c_str();
    *outputs = model->model.call_spec().outputs.c_str();
    return berth::ok();
  });
}

berth_code berth_model_run(berth_model* model,
                           const berth_tensor* const* inputs,
                           size_t input_count, berth_tensor** outputs,
                           size_t output_count) {
  return guard([&]() -> Status {
    BERTH_CHECK(check({{model, "model"}}));
    BERTH_CHECK(check_outputs(model->model, outputs, output_count));
    BERTH_TRY(const auto given, inputs_of(inputs, input_count));
    BERTH_TRY(auto results, model->model.run(given));
    std::vector<std::unique_ptr<berth_tensor>> made;
    made.reserve(results.size());
    for (Tensor& result : results) {
      made.push_back(result.has_storage() ? std::make_unique<berth_tensor>()
                                          : nullptr);
      if (made.back()) made.back()->tensor = std::move(result);
    }
    // Nothing can fail from here on.
    for (std::size_t i = 0; i < made.size(); ++i)
      outputs[i] = made[i].release();
    return berth::ok();
  });
}

berth_code berth_model_run_into(berth_model* model,
                                const berth_tensor* const* inputs,
                                size_t input_count,
                                berth_tensor* const* outputs,
                                size_t output_count) {
  return guard([&]() -> Status {
    BERTH_CHECK(check({{model, "model"}}));
    BERTH_CHECK(check_outputs(model->model, outputs, output_count));
    BERTH_TRY(const auto given, inputs_of(inputs, input_count));
    std::vector<Tensor> results(output_count);
    for (std::size_t i = 0; i < output_count; ++i) {
      if (outputs[i] != nullptr) results[i] = outputs[i]->tensor;
    }
    return model->model.run(given, results);
  });
}

berth_code berth_model_close(berth_model* model) {
  return guard([&]() -> Status {
    BERTH_CHECK(check({{model, "model"}}));
    return model->model.close();
  });
}

void berth_model_destroy(berth_model* model) { delete model; }
