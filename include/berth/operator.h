// Operators that a model calls by name: torch's own that have no function in
// the shim, and custom ones.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "berth/export.h"
#include "berth/result.h"
#include "berth/tensor.h"

namespace berth {

// One argument of a call, as the operator's schema types it: `Tensor`,
// `Tensor[]`, `Tensor?[]`, `int`, `int[]`, `float`, `float[]`, `bool`,
// `bool[]`, `str`, `str[]`. Symbolic integers, dtypes, layouts and memory
// formats are integers (torch's numbers); a `Scalar` is an integer, a number or
// a bool. The first alternative is a None, a device or a generator. An argument
// that the model leaves out has the schema's default.
using OperatorArgument =
    std::variant<std::monostate, Tensor, std::vector<Tensor>,
                 std::vector<std::optional<Tensor>>, std::int64_t,
                 std::vector<std::int64_t>, double, std::vector<double>, bool,
                 std::vector<bool>, std::string, std::vector<std::string>>;

// Computes one operator: `arguments` are all of the schema, in its order, those
// with a name too. Returns a tensor for each that the schema returns; those of
// a returned list follow each other. One without storage stands for a None.
//
// Threads  called from every thread that runs a model, several at once.
// Borrows  arguments, which share the model's memory: copy what is kept.
//          Results may share it too. Writing to an argument that the schema
//          marks
//          (`Tensor(a!)`) writes to the model's tensor.
// Fails    with an Error; the run of the model fails with it. Exceptions are
//          caught and do the same.
using OperatorFunction = std::function<Result<std::vector<Tensor>>(
    std::span<const OperatorArgument> arguments)>;

// From now on models may call the operator of `schema`, written as torch writes
// them: "torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) ->
// Tensor". To be called before a model that needs it is loaded. A loaded model
// keeps the function that was registered when it was loaded.
//
// Threads  any.
// Fails    kInvalidArgument for a schema that cannot be read, an empty
//          function, and a name that is taken, also by Berth itself.
BERTH_API Status register_operator(std::string_view schema,
                                   OperatorFunction function);

// Loaded models go on calling it. kNotFound when it was not registered by
// register_operator.
BERTH_API Status unregister_operator(std::string_view name);

// "aten::median.dim", ...: what models may call by name, sorted.
BERTH_API std::vector<std::string> registered_operators();

}  // namespace berth
