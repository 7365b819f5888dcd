#include "operators/default_value.h"

#include <array>
#include <charconv>
#include <utility>

namespace berth::operators {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

template <typename T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

std::optional<bool> truth(std::string_view text) {
  if (text == "True" || text == "true" || text == "1") return true;
  if (text == "False" || text == "false" || text == "0") return false;
  return {};
}

// What torch's own list of operators writes with a word.
std::optional<std::int64_t> whole(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 6>
      kWords{{{"Mean", 1},
              {"Sum", 2},
              {"contiguous_format", 0},
              {"preserve_format", 1},
              {"float", 6},
              {"long", 4}}};
  for (const auto& [word, value] : kWords)
    if (word == text) return value;
  return number<std::int64_t>(text);
}

std::optional<std::string> quoted(std::string_view text) {
  if (text.size() < 2 || text.front() != text.back() ||
      (text.front() != '"' && text.front() != '\''))
    return {};
  std::string value;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    char c = text[i];
    if (c == '\\' && i + 2 < text.size()) {
      c = text[++i];
      if (c == 'n') c = '\n';
      if (c == 't') c = '\t';
      if (c == 'f') c = '\f';
      if (c == 'v') c = '\v';
      if (c == 'r') c = '\r';
    }
    value += c;
  }
  return value;
}

template <typename T>
std::optional<OperatorArgument> as_argument(std::optional<T> value) {
  if (!value) return {};
  return OperatorArgument(*std::move(value));
}

std::optional<OperatorArgument> one_value(std::string_view text, Kind kind) {
  switch (kind) {
    case Kind::kInt:
    case Kind::kEnum:
      return as_argument(whole(text));
    case Kind::kFloat:
      return as_argument(number<double>(text));
    case Kind::kBool:
      return as_argument(truth(text));
    case Kind::kScalar:
      if (const auto value = number<std::int64_t>(text))
        return OperatorArgument(*value);
      if (const auto value = truth(text)) return OperatorArgument(*value);
      return as_argument(number<double>(text));
    case Kind::kString:
      return as_argument(quoted(text));
    case Kind::kTensor:
    case Kind::kOther:
      break;
  }
  return {};
}

// `elements`, each of a list.
template <typename T>
std::optional<OperatorArgument> list_of(
    const std::vector<OperatorArgument>& elements) {
  std::vector<T> values;
  for (const OperatorArgument& element : elements) {
    const T* value = std::get_if<T>(&element);
    if (value == nullptr) return {};
    values.push_back(*value);
  }
  return OperatorArgument(std::move(values));
}

std::optional<OperatorArgument> list_value(std::string_view text,
                                           const Type& type) {
  std::vector<OperatorArgument> elements;
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') {
    text = trimmed(text.substr(1, text.size() - 2));
    while (!text.empty()) {
      const std::size_t comma = text.find(',');
      const auto element = one_value(trimmed(text.substr(0, comma)), type.kind);
      if (!element) return {};
      elements.push_back(*element);
      text = comma == std::string_view::npos ? std::string_view()
                                             : text.substr(comma + 1);
    }
  } else {
    const auto element = one_value(text, type.kind);
    if (!element || type.length == 0) return {};
    elements.assign(type.length, *element);
  }
  switch (type.kind) {
    case Kind::kInt:
      return list_of<std::int64_t>(elements);
    case Kind::kFloat:
      return list_of<double>(elements);
    case Kind::kBool:
      return list_of<bool>(elements);
    case Kind::kString:
      return list_of<std::string>(elements);
    default:
      return {};
  }
}

}  // namespace

std::optional<OperatorArgument> default_value(std::string_view text,
                                              const Type& type) {
  text = trimmed(text);
  if (text == "None") {
    if (!type.may_be_none && type.kind != Kind::kOther) return {};
    return OperatorArgument();
  }
  return type.is_list ? list_value(text, type) : one_value(text, type.kind);
}

}  // namespace berth::operators
