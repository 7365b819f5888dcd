// What a .pte says about itself, read without the runtime: methods, delegates,
// the keys of their libraries, and the named data behind the keys.
//
// Running a program is ExecuTorch's business; this is for `berth inspect` and
// `berth check`, and for tools. Input is untrusted.
//
// Format: docs/formats.md, and the schema of the installed SDK.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/export.h"
#include "berth/result.h"
#include "berth/signature.h"

namespace berth::executorch {

// Owns     copies of all names; borrows the program's bytes, which must outlive
//          it and every span that it returns.
// Threads  immutable after parse(); share freely.
// Units    sizes in bytes.
// Fails    kCorrupt when the bytes are no program or contradict themselves.
class BERTH_API Program {
 public:
  struct Delegate {
    std::string backend;          // "BerthBackend", or another's.
    std::string library_key;      // Empty unless backend is Berth's.
    std::string weights_key;      // As above.
    std::string instruction_set;  // As the exporter recorded it, or empty.
  };

  struct Method {
    std::string name;
    std::vector<Delegate> delegates;
    std::vector<std::string> operators;  // Those outside the delegates.
    std::vector<TensorSpec> inputs;      // Named by their place.
    std::vector<std::string> external_constants;  // Keys that a .ptd must have.
  };

  static Result<Program> parse(std::span<const std::byte> bytes);

  const std::vector<Method>& methods() const noexcept { return methods_; }

  // Named data inside the program, by key. Data in .ptd files is not here.
  const std::map<std::string, std::span<const std::byte>, std::less<>>&
  named_data() const noexcept {
    return named_data_;
  }

 private:
  Program() = default;
  std::vector<Method> methods_;
  std::map<std::string, std::span<const std::byte>, std::less<>> named_data_;
};

}  // namespace berth::executorch
