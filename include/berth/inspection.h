// What a library is and needs, found out without mapping it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/export.h"
#include "berth/result.h"

namespace berth {

// A value.
// Units    sizes in bytes.
struct BERTH_API Inspection {
  std::uint64_t size_bytes = 0;
  std::vector<std::string> needed;  // DT_NEEDED, in order.
  std::vector<std::string> served;  // Imports that Berth's shim serves.
  // aoti_torch_* that it does not, and operators called by name that nobody
  // has registered.
  std::vector<std::string> not_served;
  std::vector<std::string> other_imports;  // Found in the process, or not.
  std::vector<std::string> missing;        // Those that are not found anywhere.
  std::vector<std::string> unique_symbols;  // STB_GNU_UNIQUE definitions.
  bool executable_stack = false;
  std::uint64_t tls_size_bytes = 0;
  // Every reason why Berth would refuse to map it; empty when it would not.
  std::vector<std::string> refusals;

  // `operators` is the package's list of those that the library calls by name
  // (PackagedModel::operators), empty when there is none.
  // `instruction_set` is what the exporter recorded (ModelOptions); one that
  // this CPU lacks is a refusal. Fails with kCorrupt or kIncompatible when
  // `library` is not a sound image for this machine.
  static Result<Inspection> of(std::span<const std::byte> library,
                               std::string_view instruction_set = {},
                               std::span<const std::byte> operators = {});
};

// One row of the table of functions that Berth serves to delegates.
struct ServedFunction {
  const char* name;   // torch's, for example "aoti_torch_get_dim".
  const char* theme;  // For example "tensor" or "gemm".
};

// All of them. Static memory, never freed.
BERTH_API std::span<const ServedFunction> served_functions() noexcept;

}  // namespace berth
