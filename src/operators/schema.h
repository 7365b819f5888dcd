// What an operator takes and gives, in the notation of torch's operators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/operator.h"
#include "berth/result.h"

namespace berth::operators {

enum class Kind : std::uint8_t {
  kTensor,
  kInt,  // Also SymInt.
  kFloat,
  kBool,
  kScalar,  // An int, a float or a bool.
  kString,
  kEnum,  // A dtype, a layout, a memory format: a number of torch's.
  kOther  // A device, a generator: never given.
};

struct Type {
  Kind kind = Kind::kOther;
  bool is_list = false;
  std::size_t length = 0;    // Of a list, where the schema tells it: int[2].
  bool may_be_none = false;  // Of the list, where it is one.
  bool elements_may_be_none = false;
};

struct Parameter {
  std::string name;
  Type type;
  // None where the schema gives none.
  std::optional<OperatorArgument> default_value;
};

// A value.
//
// Format   as printed by torch: "namespace::name.overload(Tensor self, int?
// dim=
//          None, *, bool keepdim=False) -> (Tensor values, Tensor indices)".
//          Alias annotations are skipped.
struct Schema {
  std::string name;  // With its namespace and overload.
  std::vector<Parameter> parameters;
  std::vector<Type> returns;

  // Fails with kInvalidArgument, which says where.
  static Result<Schema> parse(std::string_view text);
};

}  // namespace berth::operators
