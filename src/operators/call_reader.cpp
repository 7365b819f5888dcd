#include "operators/call_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "operators/registry.h"

namespace berth::operators {
namespace {

using Json = nlohmann::json;

// Of a list of a call, all of which come at once.
constexpr std::size_t kMostElements = 1 << 20;

tl::unexpected<Error> unexpected_form(std::string_view form,
                                      const Parameter& parameter) {
  return fail(Code::kCorrupt, "argument '", parameter.name, "' is given as '",
              form, "', which is not what the operator's schema says");
}

// {"as_int": 1} and so on: the form and the value of the union.
struct Given {
  std::string form;
  Json value;
};

Result<Given> given(const Json& argument) {
  if (!argument.is_object() || argument.size() != 1)
    return fail(Code::kCorrupt, "expected one 'as_...', found '",
                argument.dump().substr(0, 80), "'");
  Given found{argument.begin().key(), argument.begin().value()};
  if (found.form == "as_optional_tensor") return given(found.value);
  return found;
}

std::size_t length_of(const Given& argument) {
  return argument.value.is_array() ? argument.value.size() : 0;
}

Result<double> number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  // JSON has no word for these.
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  return fail(Code::kCorrupt, "expected a number, found ", value.dump());
}

Result<Source> list_source(const Given& argument, const Parameter& parameter) {
  Source source;
  if (!argument.value.is_array() || length_of(argument) > kMostElements)
    return unexpected_form(argument.form, parameter);
  const std::size_t length = length_of(argument);
  switch (parameter.type.kind) {
    case Kind::kTensor:
      for (const Json& element : argument.value)
        source.present.push_back(!element.contains("as_none"));
      source.tensors =
          static_cast<std::size_t>(std::ranges::count(source.present, true));
      source.from = Source::From::kSomeTensors;
      if (parameter.type.elements_may_be_none) return source;
      if (source.tensors != length) break;
      source.from = Source::From::kTensors;
      return source;
    case Kind::kInt:
      source.from = Source::From::kInts;
      source.ints = length;
      return source;
    case Kind::kScalar:
      if (argument.form == "as_ints" || argument.form == "as_bools") {
        source.from = Source::From::kInts;
        source.ints = length;
        return source;
      }
      [[fallthrough]];
    case Kind::kFloat: {
      std::vector<double> values;
      for (const Json& element : argument.value) {
        BERTH_TRY(const double value, number(element));
        values.push_back(value);
      }
      source.fixed = std::move(values);
      return source;
    }
    case Kind::kBool:
      if (!std::ranges::all_of(argument.value, &Json::is_boolean)) break;
      source.fixed = argument.value.get<std::vector<bool>>();
      return source;
    case Kind::kString:
      if (!std::ranges::all_of(argument.value, &Json::is_string)) break;
      source.fixed = argument.value.get<std::vector<std::string>>();
      return source;
    default:
      break;
  }
  return unexpected_form(argument.form, parameter);
}

Result<Source> source_of(const Json& argument, const Parameter& parameter) {
  BERTH_TRY(const Given found, given(argument));
  const auto& [form, value] = found;
  Source source;
  if (form == "as_none") return source;
  if (parameter.type.is_list) return list_source(found, parameter);
  switch (parameter.type.kind) {
    case Kind::kTensor:
      if (form != "as_tensor") break;
      source.from = Source::From::kTensor;
      source.tensors = 1;
      return source;
    case Kind::kInt:
      if (form != "as_int" && form != "as_sym_int") break;
      source.from = Source::From::kInt;
      source.ints = 1;
      return source;
    case Kind::kScalar:
      if (form == "as_int" || form == "as_sym_int") {
        source.from = Source::From::kInt;
        source.ints = 1;
        return source;
      }
      if (form == "as_bool" && value.is_boolean()) {
        source.ints = 1;  // Bools are integers to the one who writes the call.
        source.fixed = value.get<bool>();
        return source;
      }
      [[fallthrough]];
    case Kind::kFloat: {
      if (form != "as_float" && form != "as_int") break;
      BERTH_TRY(source.fixed, number(value));
      return source;
    }
    case Kind::kBool:
      if (form != "as_bool" || !value.is_boolean()) break;
      source.fixed = value.get<bool>();
      return source;
    case Kind::kString:
      if (form != "as_string" || !value.is_string()) break;
      source.fixed = value.get<std::string>();
      return source;
    case Kind::kEnum:
      if (!value.is_number_integer()) break;
      source.fixed = value.get<std::int64_t>();
      return source;
    case Kind::kOther:
      return source;
  }
  return unexpected_form(form, parameter);
}

Status read_results(const Json& outputs, ExternalCall& call) {
  for (const Json& output : outputs) {
    BERTH_TRY(const Given found, given(output));
    if (found.form == "as_tensor") {
      call.results.push_back(true);
    } else if (found.form == "as_none") {
      call.results.push_back(false);
    } else if (found.form == "as_tensors" && found.value.is_array() &&
               length_of(found) <= kMostElements) {
      call.results.insert(call.results.end(), length_of(found), true);
    } else {
      return fail(Code::kUnsupported, "operator '", call.name, "' returns ",
                  found.form, ", which is not served");
    }
  }
  call.tensors +=
      static_cast<std::size_t>(std::ranges::count(call.results, true));
  return ok();
}

Status read_arguments(const Json& inputs, ExternalCall& call) {
  for (const Parameter& parameter : call.target->schema.parameters) {
    const auto named = std::ranges::find_if(inputs, [&](const Json& input) {
      return input.at("name") == parameter.name;
    });
    Source source;
    if (named != inputs.end()) {
      BERTH_TRY(source, source_of(named->at("arg"), parameter));
    } else if (parameter.default_value) {
      source.fixed = *parameter.default_value;
    } else {
      return fail(Code::kCorrupt, "argument '", parameter.name,
                  "' is missing, and has no default");
    }
    call.tensors += source.tensors;
    call.ints += source.ints;
    call.arguments.push_back(std::move(source));
  }
  return ok();
}

}  // namespace

Result<ExternalCall> read_call(const Json& node) {
  ExternalCall call;
  call.name = node.at("target").get<std::string>();
  call.target = Registry::of_process().find(call.name);
  // torch leaves the overload out where it is the default one.
  if (call.target == nullptr && call.name.ends_with(".default"))
    call.target = Registry::of_process().find(
        std::string_view(call.name).substr(0, call.name.size() - 8));
  if (call.target == nullptr) return call;
  BERTH_CHECK(noted(read_arguments(node.at("inputs"), call),
                    "reading a call of '" + call.name + "'"));
  BERTH_CHECK(read_results(node.at("outputs"), call));
  return call;
}

}  // namespace berth::operators
