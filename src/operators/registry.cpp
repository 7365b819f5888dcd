#include "operators/registry.h"

#include <utility>

#include "operators/builtin.h"

namespace berth {
namespace operators {

Registry& Registry::of_process() {
  // Never destroyed: threads may run models until the process ends.
  static Registry& registry = *[] {
    auto* made = new Registry;
    for (const Builtin& builtin : builtins()) {
      auto schema = Schema::parse(builtin.schema);
      if (schema) (void)made->add({std::move(*schema), builtin.function, true});
    }
    return made;
  }();
  return registry;
}

Status Registry::add(Operator added) {
  if (added.function == nullptr)
    return fail(Code::kInvalidArgument, "operator '", added.schema.name,
                "' has no function");
  const std::string name = added.schema.name;
  auto shared = std::make_shared<const Operator>(std::move(added));
  const std::lock_guard lock(mutex_);
  if (!all_.try_emplace(name, std::move(shared)).second)
    return fail(Code::kInvalidArgument, "operator '", name,
                "' is registered already");
  return ok();
}

Status Registry::remove(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(name);
  if (found == all_.end() || found->second->is_builtin)
    return fail(
        Code::kNotFound, "operator '", name,
        found == all_.end() ? "' is not registered" : "' is Berth's own");
  all_.erase(found);
  return ok();
}

std::shared_ptr<const Operator> Registry::find(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(name);
  return found == all_.end() ? nullptr : found->second;
}

std::vector<std::string> Registry::names() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, one] : all_) names.push_back(name);
  return names;
}

}  // namespace operators

Status register_operator(std::string_view schema, OperatorFunction function) {
  BERTH_TRY(auto parsed, operators::Schema::parse(schema));
  return operators::Registry::of_process().add(
      {std::move(parsed), std::move(function)});
}

Status unregister_operator(std::string_view name) {
  return operators::Registry::of_process().remove(name);
}

std::vector<std::string> registered_operators() {
  return operators::Registry::of_process().names();
}

}  // namespace berth
