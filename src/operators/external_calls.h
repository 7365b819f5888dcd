// The calls of operators by name that a package lists for its model.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "berth/operator.h"
#include "operators/registry.h"
#include "shim/proxy.h"

namespace berth::operators {

// Where an argument of a call comes from.
struct Source {
  enum class From : std::uint8_t {
    kPackage,      // `fixed`, whatever `ints` the call has for it.
    kTensor,       // One of the call's tensors, ...
    kTensors,      // ... a list of them, ...
    kSomeTensors,  // ... a list with Nones, ...
    kInt,          // ... or of its integers.
    kInts
  };

  From from = From::kPackage;
  OperatorArgument fixed;
  std::size_t tensors = 0;    // How many of the call's tensors it takes, ...
  std::size_t ints = 0;       // ... and of its integers.
  std::vector<bool> present;  // Of kSomeTensors, the elements that are there.
};

struct ExternalCall {
  std::string name;
  std::shared_ptr<const Operator> target;  // Null when it is not registered.
  std::vector<Source> arguments;
  std::vector<bool> results;  // One a tensor returned; false for a None.
  std::size_t tensors = 0;    // With the results.
  std::size_t ints = 0;
};

// Owns     the operators, until it is destroyed.
// Threads  immutable; share freely.
// Format   torch/_inductor: export_extern_kernel_node() writes the file
//          ("nodes", each with the node of torch.export's schema), and
//          generate_fallback_kernel_with_runtime_lookup_aot() the calls.
class ExternalCalls final : public shim::ProxyExecutor {
 public:
  // None.
  ExternalCalls() = default;

  // kCorrupt for what is not such a file, or not what the schemas say.
  static Result<ExternalCalls> parse(base::Bytes json);

  // Names, without repetition, of those that are not registered; sorted.
  std::vector<std::string> missing() const;
  // Of all, without repetition; sorted.
  std::vector<std::string> names() const;
  bool empty() const noexcept { return calls_.empty(); }

  Status call(std::size_t index, std::span<const std::int64_t> ints,
              std::span<const AtenTensorHandle> tensors) const override;

 private:
  std::vector<ExternalCall> calls_;
};

}  // namespace berth::operators
