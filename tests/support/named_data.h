// A program's named data as tests want it, and one delegate's life in the
// backend that the runtime has registered.
#pragma once

#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/core/named_data_map.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "berth/executorch.h"

namespace berth::testing {

namespace runtime = ::executorch::runtime;

// Remembers every key that it was asked for.
class FakeNamedData final : public runtime::NamedDataMap {
 public:
  std::map<std::string, std::vector<std::byte>, std::less<>> entries;
  mutable std::vector<std::string> asked;

  runtime::Result<const runtime::TensorLayout> get_tensor_layout(
      std::string_view) const override {
    return runtime::Error::NotImplemented;
  }
  runtime::Result<runtime::FreeableBuffer> get_data(
      std::string_view key) const override {
    asked.emplace_back(key);
    const auto found = entries.find(key);
    if (found == entries.end()) return runtime::Error::NotFound;
    return runtime::FreeableBuffer(found->second.data(), found->second.size(),
                                   nullptr);
  }
  runtime::Error load_data_into(std::string_view, void*,
                                std::size_t) const override {
    return runtime::Error::NotImplemented;
  }
  runtime::Result<std::uint32_t> get_num_keys() const override {
    return static_cast<std::uint32_t>(entries.size());
  }
  runtime::Result<const char*> get_key(std::uint32_t i) const override {
    return std::next(entries.begin(), i)->first.c_str();
  }
};

// A delegate's handle, as a Method holds it.
class Handle {
 public:
  static runtime::Result<Handle> init(
      const runtime::NamedDataMap* data, const std::string& processed,
      const char* method = "forward",
      const std::vector<runtime::CompileSpec>& specs = {},
      const char* temp_directory = nullptr) {
    runtime::BackendOptions<1> options;
    if (temp_directory != nullptr)
      (void)options.set_option(executorch::kTempDirectory, temp_directory);
    return init_with(options, data, processed, method, specs);
  }

  // The same, with any load-time options of the backend.
  template <typename Options>
  static runtime::Result<Handle> init_with(
      Options&& options, const runtime::NamedDataMap* data,
      const std::string& processed, const char* method = "forward",
      const std::vector<runtime::CompileSpec>& specs = {}) {
    runtime::BackendInterface* backend =
        runtime::get_backend_class(executorch::kBackendName);
    runtime::BackendInitContext context(
        nullptr, nullptr, method, data,
        {options.view().data(), options.view().size()});
    runtime::FreeableBuffer bytes(processed.data(), processed.size(), nullptr);
    auto made = backend->init(context, &bytes, {specs.data(), specs.size()});
    if (!made.ok()) return made.error();
    return Handle(backend, made.get());
  }
  Handle(Handle&& other) noexcept
      : backend_(other.backend_),
        handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (handle_ != nullptr) backend_->destroy(handle_);
  }

  runtime::Error execute(std::vector<runtime::EValue>& values) {
    std::vector<runtime::EValue*> pointers;
    for (runtime::EValue& value : values) pointers.push_back(&value);
    runtime::BackendExecutionContext context;
    return backend_->execute(context, handle_,
                             {pointers.data(), pointers.size()});
  }

 private:
  Handle(runtime::BackendInterface* backend, runtime::DelegateHandle* handle)
      : backend_(backend), handle_(handle) {}
  runtime::BackendInterface* backend_;
  runtime::DelegateHandle* handle_;
};

}  // namespace berth::testing
