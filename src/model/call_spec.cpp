#include "model/call_spec.h"

#include <nlohmann/json.hpp>

namespace berth::model {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kDeepest = 64;

// A node's member of that name; null where there is none.
const Json& member(const Json& node, const char* name) {
  static const Json kNothing;
  const auto found = node.find(name);
  return found == node.end() ? kNothing : *found;
}

// The keys of a dict of any kind, which torch writes as JSON in a string.
Json keys_of(const Json& node, std::size_t count) {
  const Json& context = member(node, "context");
  if (!context.is_string()) return {};
  Json keys = Json::parse(context.get_ref<const std::string&>(), nullptr,
                          /*allow_exceptions=*/false);
  if (keys.is_object()) keys = member(keys, "dict_context");  // defaultdict
  return keys.is_array() && keys.size() == count ? keys : Json();
}

std::string step_of(const Json& keys, std::size_t i) {
  if (!keys.is_array()) return "[" + std::to_string(i) + "]";
  if (keys[i].is_string())
    return "['" + keys[i].get_ref<const std::string&>() + "']";
  return "[" + keys[i].dump() + "]";
}

// Adds the paths of the leaves under `node`; false when it is not understood.
bool add_leaves(const Json& node, const std::string& path, std::size_t depth,
                std::vector<std::string>& paths) {
  if (!node.is_object() || depth > kDeepest) return false;
  if (member(node, "type").is_null()) {
    paths.push_back(path);
    return true;
  }
  const Json& children = member(node, "children_spec");
  if (!children.is_array()) return false;
  const Json keys = keys_of(node, children.size());
  for (std::size_t i = 0; i < children.size(); ++i) {
    if (!add_leaves(children[i], path + step_of(keys, i), depth + 1, paths))
      return false;
  }
  return true;
}

// What follows the protocol's number, [1, {...}]; null for anything else.
Json root_of(std::string_view spec) {
  Json parsed = Json::parse(spec, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_array() || parsed.size() != 2) return {};
  return std::move(parsed[1]);
}

}  // namespace

std::vector<std::string> output_paths(std::string_view spec) {
  std::vector<std::string> paths;
  if (!add_leaves(root_of(spec), "", 0, paths)) paths.clear();
  return paths;
}

std::vector<std::string> input_paths(std::string_view spec) {
  std::vector<std::string> paths;
  const Json root = root_of(spec);
  if (!root.is_object()) return paths;
  const Json& children = member(root, "children_spec");
  if (!children.is_array() || children.size() != 2) return paths;
  if (!add_leaves(children[0], "", 1, paths) ||
      !add_leaves(children[1], "", 1, paths))
    paths.clear();
  return paths;
}

}  // namespace berth::model
