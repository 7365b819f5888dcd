// The AOTInductor object inside a mapped library: its functions bound to typed
// pointers, its constants, and one run.
//
// Tensors stay handles here; model.cpp turns them into berth::Tensor.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "berth/result.h"
#include "berth/signature.h"
#include "library/library.h"
#include "model/aoti_abi.h"
#include "model/lent_constants.h"
#include "model/shared_constants.h"
#include "model/weights.h"
#include "shim/proxy.h"

namespace berth::model {

// Owns     the container, which lives inside the library: destroy it before the
//          Library that it was created from. Also constants that it was lent.
// Threads  one run at a time; the caller sees to that.
// Units    constants in bytes.
// Fails    kDelegate with the library's own error text, and the shim's reason
//          where it has one; kNotFound and kInvalidArgument for constants.
class Container {
 public:
  // What a library must export for bind() to succeed.
  static std::span<const std::string_view> entry_points() noexcept;

  // Creates a container in `library`, which is borrowed.
  static Result<Container> create(const library::Library& library);

  Container(Container&&) = default;
  Container& operator=(Container&&) = delete;

  // Copies the constants out of `weights`, which must be exactly as long as the
  // constants together; none when the library has them inside. To be called
  // once, before the first run.
  Status give_constants(const Weights& weights);

  // Whether the library has the functions for the next two.
  bool can_share_constants() const;

  // The constants that it has, without those that it folds itself. Tensors on
  // its own memory.
  Result<std::vector<NamedConstant>> constants() const;

  // Uses `constants` instead of own ones, whose memory is given back. Instead
  // of give_constants().
  Status borrow_constants(LentConstants constants);

  // Runs with `inputs`, which are consumed whatever happens, and fills
  // `outputs` with handles for the caller. On failure all outputs are null.
  // `operators` are those it calls by name; borrowed, or null for none.
  Status run(std::span<AtenTensorHandle> inputs,
             std::span<AtenTensorHandle> outputs,
             const shim::ProxyExecutor* operators = nullptr);

  const std::vector<std::string>& input_names() const { return inputs_; }
  const std::vector<std::string>& output_names() const { return outputs_; }
  const CallSpec& call_spec() const { return call_spec_; }

 private:
  // The library's functions; the optional ones may be null.
  struct Functions {
    abi::CreateWithDevice* create = nullptr;
    abi::Run* run = nullptr;
    abi::GetCount* input_count = nullptr;
    abi::GetCount* output_count = nullptr;
    abi::GetName* input_name = nullptr;
    abi::GetName* output_name = nullptr;
    abi::GetCount* constant_count = nullptr;
    abi::GetConstantDataSize* constant_size = nullptr;             // Optional.
    abi::GetConstantFromFolded* constant_folded = nullptr;         // Optional.
    abi::ExtractConstantsMapEntries* present_constants = nullptr;  // Optional.
    abi::UpdateConstantsFromBlob* update_constants = nullptr;      // Optional.
    abi::GetLastError* last_error = nullptr;                       // Optional.
    abi::GetCallSpec* call_spec = nullptr;                         // Optional.
    abi::GetName* constant_source_name = nullptr;                  // Optional.
    abi::GetConstantDtype* constant_dtype = nullptr;               // Optional.
    abi::GetName* constant_name = nullptr;                         // Optional.
    abi::UpdateUserManagedPairs* borrow_constants = nullptr;       // Optional.
    abi::SwapConstantBuffer* swap_constants = nullptr;             // Optional.
    abi::FreeInactiveConstantBuffer* free_inactive = nullptr;      // Optional.
  };

  struct Constants {
    std::size_t count = 0;  // Without those that the library folds itself.
    std::size_t size_bytes = 0;
  };

  Container() = default;
  Status bind(const library::Library& library);
  Status read_names();
  Result<Constants> wanted_constants() const;
  // The indices of the constants that the library does not fold itself.
  Result<std::vector<std::size_t>> unfolded_constants() const;
  // What `function`, which errors name as `called`, says of constant `i`.
  Result<std::string> constant_text(abi::GetName* function, const char* called,
                                    std::size_t i) const;
  Status give_named(const Weights& weights);
  // Good until the next call.
  Result<std::span<const abi::ConstantMapEntry>> present_constants(
      bool inactive = false) const;
  tl::unexpected<Error> failed(std::string_view function,
                               abi::Error code) const;

  Functions functions_;
  // Outlives the container, which holds handles of it.
  std::optional<LentConstants> lent_;
  // A failure to delete has nobody to go to, and the library closes next.
  std::unique_ptr<abi::ContainerOpaque, abi::Delete*> handle_{nullptr, nullptr};
  std::vector<std::string> inputs_;
  std::vector<std::string> outputs_;
  CallSpec call_spec_;
};

}  // namespace berth::model
