#include "executorch/delegate.h"

#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace berth::executorch {
namespace {

namespace runtime = ::executorch::runtime;
using RuntimeTensor = ::executorch::aten::Tensor;

// ExecuTorch's own limit (kTensorDimensionLimit).
constexpr std::size_t kMaxDims = 16;

// A value of a key, kept alive.
class NamedData {
 public:
  // Nothing when there is no such key; kSystem when reading it failed.
  static Result<std::optional<NamedData>> find(const runtime::NamedDataMap& map,
                                               std::string_view key) {
    auto found = map.get_data(key);
    if (!found.ok()) {
      if (found.error() == runtime::Error::NotFound)
        return std::optional<NamedData>();
      return fail(Code::kSystem, "reading the named data of key ",
                  quoted_key(key),
                  " failed: ", runtime::to_string(found.error()));
    }
    return std::optional<NamedData>(NamedData(std::move(found.get())));
  }

  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(buffer_.data()), buffer_.size()};
  }

 private:
  explicit NamedData(runtime::FreeableBuffer&& buffer)
      : buffer_(std::move(buffer)) {}
  runtime::FreeableBuffer buffer_;
};

// A tensor on the value's memory. Numbers, which delegates take as tensors
// without dimensions, are borrowed from the value itself.
Result<Tensor> borrow(runtime::EValue& value) {
  if (value.isInt())
    return Tensor::borrow(&value.payload.copyable_union.as_int,
                          sizeof(std::int64_t), {}, {}, DType::kInt64);
  if (value.isDouble())
    return Tensor::borrow(&value.payload.copyable_union.as_double,
                          sizeof(double), {}, {}, DType::kFloat64);
  if (value.isBool())
    return Tensor::borrow(&value.payload.copyable_union.as_bool, sizeof(bool),
                          {}, {}, DType::kBool);
  if (!value.isTensor())
    return fail(Code::kInvalidArgument,
                "expected a tensor or a number, found a value with tag ",
                static_cast<int>(value.tag));
  const RuntimeTensor& tensor = value.toTensor();
  const auto dim = static_cast<std::size_t>(tensor.dim());
  if (dim > kMaxDims)
    return fail(Code::kUnsupported, "a tensor has ", dim,
                " dimensions, at most ", kMaxDims, " are supported");
  std::array<std::int64_t, kMaxDims> sizes{};
  std::array<std::int64_t, kMaxDims> strides{};
  for (std::size_t i = 0; i < dim; ++i) {
    sizes[i] = tensor.sizes()[i];
    strides[i] = tensor.strides()[i];
  }
  return Tensor::borrow(const_cast<void*>(tensor.const_data_ptr()),
                        tensor.nbytes(), std::span(sizes.data(), dim),
                        std::span(strides.data(), dim),
                        static_cast<DType>(tensor.scalar_type()));
}

std::string shape_text(std::span<const std::int64_t> sizes) {
  std::string text = "[";
  for (std::size_t i = 0; i < sizes.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(sizes[i]);
  return text + "]";
}

// Gives the program's tensor the result's sizes, then its elements.
Status deliver(const Tensor& result, runtime::EValue& value) {
  if (!value.isTensor())
    return fail(Code::kInvalidArgument,
                "expected room for a tensor, found a value with tag ",
                static_cast<int>(value.tag));
  RuntimeTensor& tensor = value.toTensor();
  if (static_cast<DType>(tensor.scalar_type()) != result.dtype())
    return fail(Code::kInvalidArgument, "the model gives ",
                to_string(result.dtype()), ", the program has room for ",
                to_string(static_cast<DType>(tensor.scalar_type())));
  std::array<RuntimeTensor::SizesType, kMaxDims> sizes{};
  const auto wanted = result.sizes();
  bool representable = wanted.size() <= kMaxDims;
  for (std::size_t i = 0; representable && i < wanted.size(); ++i) {
    sizes[i] = static_cast<RuntimeTensor::SizesType>(wanted[i]);
    representable = sizes[i] == wanted[i];
  }
  // Refuses sizes beyond what was planned, before anything is written.
  if (!representable ||
      runtime::resize_tensor(
          tensor, ::executorch::aten::ArrayRef<RuntimeTensor::SizesType>(
                      sizes.data(), wanted.size())) != runtime::Error::Ok)
    return fail(Code::kInvalidArgument, "the model gives sizes ",
                shape_text(wanted), ", for which the program has no room");
  BERTH_TRY(Tensor room, borrow(value));
  return room.copy_from(result);
}

// The tensors of one call. They are the thread's, and reused by its next call
// of any delegate, so that the steady state allocates nothing and overlapping
// calls share nothing. Emptied afterwards: borrowed memory is the program's
// again, and the results' is free.
class Scratch {
 public:
  Scratch(std::size_t input_count, std::size_t output_count) {
    inputs().resize(input_count);
    outputs().resize(output_count);
  }
  ~Scratch() {
    inputs().clear();
    outputs().clear();
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::vector<Tensor>& inputs() { return of_thread().inputs; }
  std::vector<Tensor>& outputs() { return of_thread().outputs; }

 private:
  struct Vectors {
    std::vector<Tensor> inputs;
    std::vector<Tensor> outputs;
  };
  static Vectors& of_thread() {
    thread_local Vectors vectors;
    return vectors;
  }
};

}  // namespace

Result<Delegate> Delegate::load(const Payload& payload,
                                const runtime::NamedDataMap* named_data,
                                const ModelOptions& options) {
  if (named_data == nullptr)
    return fail(Code::kNotFound,
                "the program has no named data to take the library from");
  std::string tried;
  for (const Keys& keys : payload.candidates()) {
    BERTH_TRY(const auto library, NamedData::find(*named_data, keys.library));
    if (!library) {
      tried += (tried.empty() ? "" : ", ") + quoted_key(keys.library);
      continue;
    }
    BERTH_TRY(const auto weights, NamedData::find(*named_data, keys.weights));
    const std::string note = "loading library " + quoted_key(keys.library) +
                             (weights ? " with weights "
                                      : " without weights, there are none of "
                                        "key ") +
                             quoted_key(keys.weights);
    BERTH_TRY(Model model,
              noted(Model::load(library->bytes(),
                                weights ? weights->bytes()
                                        : std::span<const std::byte>(),
                                options),
                    note));
    return Delegate(std::move(model));
  }
  return fail(Code::kNotFound, "the named data has no library under key ",
              tried, "; was the program's .ptd file given?");
}

Status Delegate::execute(Values values) {
  const std::size_t input_count = model_.inputs().size();
  const std::size_t output_count = model_.outputs().size();
  if (values.size() != input_count + output_count)
    return fail(Code::kInvalidArgument, "the delegate takes ", input_count,
                " inputs and ", output_count, " outputs, found ", values.size(),
                " values");
  Scratch scratch(input_count, output_count);
  std::vector<Tensor>& inputs = scratch.inputs();
  std::vector<Tensor>& outputs = scratch.outputs();
  for (std::size_t i = 0; i < input_count; ++i) {
    auto input = borrow(*values[i]);
    if (!input)
      return noted(Status(tl::unexpect, std::move(input).error()),
                   "taking input " + std::to_string(i));
    inputs[i] = std::move(*input);
  }
  BERTH_CHECK(model_.run(inputs, outputs));
  for (std::size_t i = 0; i < output_count; ++i) {
    Status status = deliver(outputs[i], *values[input_count + i]);
    if (status) continue;
    status.error().note("giving output " + std::to_string(i));
    return status;
  }
  return ok();
}

}  // namespace berth::executorch
