// The operators that models may call by name, of the whole process.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "berth/operator.h"
#include "operators/schema.h"

namespace berth::operators {

struct Operator {
  Schema schema;
  OperatorFunction function;
  bool is_builtin = false;
};

// Threads  any.
class Registry {
 public:
  // With Berth's own operators in it.
  static Registry& of_process();

  // kInvalidArgument when the name is taken.
  Status add(Operator added);
  // kNotFound, also for Berth's own.
  Status remove(std::string_view name);
  // Null when there is none.
  std::shared_ptr<const Operator> find(std::string_view name) const;
  std::vector<std::string> names() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Operator>, std::less<>> all_;
};

}  // namespace berth::operators
