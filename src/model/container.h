// The AOTInductor object inside a mapped library: its functions bound to typed
// pointers, its constants, and one run.
//
// Tensors stay handles here; model.cpp turns them into berth::Tensor.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "berth/result.h"
#include "library/library.h"
#include "model/aoti_abi.h"

namespace berth::model {

// Owns     the container, which lives inside the library: destroy it before the
//          Library that it was created from.
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

  // Copies the constants out of `weights`, which must be exactly as long as the
  // constants together; empty when the library has them inside. To be called
  // once, before the first run.
  Status give_constants(base::Bytes weights);

  // Runs with `inputs`, which are consumed whatever happens, and fills
  // `outputs` with handles for the caller. On failure all outputs are null.
  Status run(std::span<AtenTensorHandle> inputs,
             std::span<AtenTensorHandle> outputs);

  const std::vector<std::string>& input_names() const { return inputs_; }
  const std::vector<std::string>& output_names() const { return outputs_; }

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
  };

  struct Constants {
    std::size_t count = 0;  // Without those that the library folds itself.
    std::size_t size_bytes = 0;
  };

  Container() = default;
  Status bind(const library::Library& library);
  Status read_names();
  Result<Constants> wanted_constants() const;
  Result<std::size_t> present_constants() const;
  tl::unexpected<Error> failed(std::string_view function,
                               abi::Error code) const;

  Functions functions_;
  // A failure to delete has nobody to go to, and the library closes next.
  std::unique_ptr<abi::ContainerOpaque, abi::Delete*> handle_{nullptr, nullptr};
  std::vector<std::string> inputs_;
  std::vector<std::string> outputs_;
};

}  // namespace berth::model
