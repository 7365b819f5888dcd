#include "operators/external_calls.h"

#include <algorithm>
#include <exception>
#include <set>
#include <utility>

#include "operators/call_reader.h"
#include "tensor/layout.h"

namespace berth::operators {
namespace {

using Json = nlohmann::json;

// Takes the arguments of a call off the front of what the library hands over.
class Handed {
 public:
  Handed(std::span<const std::int64_t> ints,
         std::span<const AtenTensorHandle> tensors)
      : ints_(ints), tensors_(tensors) {}

  // There are as many as `source` takes: call() has compared the numbers.
  Result<OperatorArgument> take(const Source& source) {
    using From = Source::From;
    const auto ints = ints_.first(source.ints);
    ints_ = ints_.subspan(source.ints);
    switch (source.from) {
      case From::kTensor: {
        BERTH_TRY(Tensor tensor, next_tensor());
        return OperatorArgument(std::move(tensor));
      }
      case From::kTensors: {
        std::vector<Tensor> all(source.tensors);
        for (Tensor& each : all) {
          BERTH_TRY(each, next_tensor());
        }
        return OperatorArgument(std::move(all));
      }
      case From::kSomeTensors: {
        std::vector<std::optional<Tensor>> some(source.present.size());
        for (std::size_t i = 0; i < some.size(); ++i) {
          if (!source.present[i]) continue;
          BERTH_TRY(some[i], next_tensor());
        }
        return OperatorArgument(std::move(some));
      }
      case From::kInt:
        return OperatorArgument(ints.front());
      case From::kInts:
        return OperatorArgument(
            std::vector<std::int64_t>(ints.begin(), ints.end()));
      case From::kPackage:
        break;
    }
    return source.fixed;
  }

 private:
  Result<Tensor> next_tensor() {
    BERTH_TRY(const Tensor* tensor, shim::borrow(tensors_.front()));
    tensors_ = tensors_.subspan(1);
    return *tensor;
  }

  std::span<const std::int64_t> ints_;
  std::span<const AtenTensorHandle> tensors_;
};

std::string shapes_of(std::span<const OperatorArgument> arguments) {
  std::string text;
  const auto add = [&](const Tensor& tensor) {
    text += text.empty() ? " (" : ", ";
    text += std::string(to_string(tensor.dtype())) + " " +
            tensor::to_text(tensor.sizes());
  };
  for (const OperatorArgument& argument : arguments) {
    if (const auto* one = std::get_if<Tensor>(&argument)) add(*one);
    if (const auto* list = std::get_if<std::vector<Tensor>>(&argument))
      std::ranges::for_each(*list, add);
  }
  return text.empty() ? text : text + ")";
}

Result<std::vector<Tensor>> compute(const ExternalCall& call,
                                    std::span<const OperatorArgument> given) {
  const std::string& name = call.name;
  auto results = [&]() -> Result<std::vector<Tensor>> {
    try {
      return call.target->function(given);
    } catch (const std::exception& error) {
      return fail(Code::kDelegate, error.what());
    } catch (...) {
      return fail(Code::kDelegate, "unknown exception");
    }
  }();
  if (results && results->size() != call.results.size())
    results = fail(Code::kDelegate, "expected ", call.results.size(),
                   " results, found ", results->size());
  if (!results)
    results.error().note("in operator '" + name + "'" + shapes_of(given));
  return results;
}

}  // namespace

Result<ExternalCalls> ExternalCalls::parse(base::Bytes json) {
  const auto* text = reinterpret_cast<const char*>(json.data());
  const Json parsed = Json::parse(text, text + json.size(), nullptr,
                                  /*allow_exceptions=*/false);
  ExternalCalls calls;
  // What is missing or of another type is an exception of the library's.
  try {
    for (const Json& node : parsed.at("nodes")) {
      BERTH_TRY(ExternalCall call, read_call(node.at("node")));
      calls.calls_.push_back(std::move(call));
    }
  } catch (const Json::exception& error) {
    return fail(Code::kCorrupt,
                "expected the list of a model's operators: ", error.what());
  }
  return calls;
}

std::vector<std::string> ExternalCalls::names() const {
  std::set<std::string> names;
  for (const ExternalCall& call : calls_) names.insert(call.name);
  return {names.begin(), names.end()};
}

std::vector<std::string> ExternalCalls::missing() const {
  std::set<std::string> names;
  for (const ExternalCall& call : calls_)
    if (call.target == nullptr) names.insert(call.name);
  return {names.begin(), names.end()};
}

Status ExternalCalls::call(std::size_t index,
                           std::span<const std::int64_t> ints,
                           std::span<const AtenTensorHandle> tensors) const {
  if (index >= calls_.size())
    return fail(Code::kCorrupt, "the library calls operator ", index,
                ", the package lists ", calls_.size());
  const ExternalCall& call = calls_[index];
  if (ints.size() != call.ints || tensors.size() != call.tensors)
    return fail(Code::kCorrupt, "the library calls '", call.name, "' with ",
                ints.size(), " integers and ", tensors.size(),
                " tensors, its package says ", call.ints, " and ",
                call.tensors);
  std::vector<OperatorArgument> arguments;
  Handed handed(ints, tensors);
  for (const Source& source : call.arguments) {
    BERTH_TRY(auto argument, handed.take(source));
    arguments.push_back(std::move(argument));
  }
  BERTH_TRY(auto results, compute(call, arguments));
  // The results' handles follow the arguments'.
  auto output = tensors.end() - std::ranges::count(call.results, true);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!call.results[i]) continue;
    if (!results[i].has_storage())
      return fail(Code::kDelegate, "operator '", call.name, "' gave no tensor ",
                  "for result ", i, ", which the model reads");
    BERTH_TRY(Tensor * taken, shim::borrow(*output++));
    *taken = std::move(results[i]);
  }
  return ok();
}

}  // namespace berth::operators
