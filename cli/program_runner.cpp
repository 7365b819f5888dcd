#include "cli/program_runner.h"

#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor_ptr.h>
#include <executorch/runtime/backend/backend_options_map.h>
#include <executorch/runtime/backend/options.h>
#include <executorch/runtime/platform/platform.h>

#include <algorithm>
#include <utility>

#include "berth/executorch.h"
#include "cli/files.h"
#include "executorch/program.h"

namespace berth::cli {
namespace {

namespace runtime = ::executorch::runtime;
using ::executorch::extension::Module;
using ::executorch::extension::TensorPtr;

// The runtime's last complaint to this thread.
std::string& last_log() {
  thread_local std::string text;
  return text;
}

void keep_log(et_timestamp_t, et_pal_log_level_t level, const char*,
              const char*, std::size_t, const char* message,
              std::size_t length) {
  if (level == kError || level == kFatal) last_log().assign(message, length);
}

// Where it is the runtime's own; Berth's errors have their codes.
Code code_of(runtime::Error error) {
  switch (error) {
    case runtime::Error::NotFound:
    case runtime::Error::AccessFailed:
      return Code::kNotFound;
    case runtime::Error::InvalidProgram:
      return Code::kCorrupt;
    case runtime::Error::DelegateInvalidCompatibility:
      return Code::kIncompatible;
    case runtime::Error::NotSupported:
    case runtime::Error::NotImplemented:
    case runtime::Error::OperatorMissing:
      return Code::kUnsupported;
    case runtime::Error::MemoryAllocationFailed:
    case runtime::Error::DelegateMemoryAllocationFailed:
      return Code::kOutOfMemory;
    case runtime::Error::Internal:
      return Code::kInternal;
    default:
      return Code::kInvalidArgument;
  }
}

// The reason behind `error`: Berth's own where it has one, else what the
// runtime logged last.
tl::unexpected<Error> failed(std::string_view doing, runtime::Error error) {
  if (auto reason = berth::executorch::take_last_error())
    return tl::unexpected<Error>(std::move(reason->note(doing)));
  const std::string log = std::exchange(last_log(), {});
  const Code code = code_of(error);
  return fail(code, "ExecuTorch reports ", runtime::to_string(error),
              log.empty() ? "" : ": " + log, "; while ", doing);
}

Result<Tensor> copy_out(const ::executorch::aten::Tensor& tensor) {
  std::vector<std::int64_t> sizes(tensor.sizes().begin(), tensor.sizes().end());
  std::vector<std::int64_t> strides(tensor.strides().begin(),
                                    tensor.strides().end());
  BERTH_TRY(const Tensor view,
            Tensor::borrow(const_cast<void*>(tensor.const_data_ptr()),
                           tensor.nbytes(), sizes, strides,
                           static_cast<DType>(tensor.scalar_type())));
  return view.clone();
}

// Owns     the module. Inputs are borrowed during run().
class ProgramRunner final : public Runner {
 public:
  ProgramRunner(std::unique_ptr<Module> module, std::string method,
                std::vector<TensorSpec> inputs)
      : module_(std::move(module)),
        method_(std::move(method)),
        inputs_(std::move(inputs)) {}

  const std::vector<TensorSpec>& inputs() const override { return inputs_; }

  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs) override {
    std::vector<TensorPtr> tensors;
    std::vector<runtime::EValue> values;
    for (const Tensor& input : inputs) {
      std::vector<::executorch::aten::SizesType> sizes(input.sizes().begin(),
                                                       input.sizes().end());
      tensors.push_back(::executorch::extension::make_tensor_ptr(
          std::move(sizes), input.data(), {}, {},
          static_cast<::executorch::aten::ScalarType>(input.dtype())));
      values.emplace_back(*tensors.back());
    }
    auto results = module_->execute(method_, values);
    if (!results.ok())
      return failed("running method '" + method_ + "'", results.error());
    std::vector<Tensor> outputs;
    for (const runtime::EValue& value : results.get()) {
      if (!value.isTensor())
        return fail(Code::kUnsupported, "output ", outputs.size(),
                    " of method '", method_, "' is not a tensor");
      BERTH_TRY(Tensor output, copy_out(value.toTensor()));
      outputs.push_back(std::move(output));
    }
    return outputs;
  }

 private:
  std::unique_ptr<Module> module_;
  std::string method_;
  std::vector<TensorSpec> inputs_;
};

Result<std::vector<TensorSpec>> inputs_of(const std::string& path,
                                          const std::string& method) {
  BERTH_TRY(const MappedFile file, MappedFile::open(path));
  BERTH_TRY(const executorch::Program program,
            executorch::Program::parse(file.bytes()));
  for (const auto& each : program.methods()) {
    if (each.name == method) return each.inputs;
  }
  return std::vector<TensorSpec>();
}

}  // namespace

Result<std::unique_ptr<Runner>> load_program(const Source& source) {
  runtime::register_pal(runtime::PalImpl::create(keep_log, __FILE__));
  // Opened in vain, data files are only named by the runtime's log.
  auto module = source.data_paths.empty()
                    ? std::make_unique<Module>(source.path)
                    : std::make_unique<Module>(source.path, source.data_paths);
  runtime::BackendOptions<3> options;
  runtime::LoadBackendOptionsMap options_map;
  if (!source.temp_directory.empty()) {
    if (source.temp_directory.size() >= runtime::kMaxOptionValueLength)
      return fail(Code::kInvalidArgument, "ExecuTorch hands on at most ",
                  runtime::kMaxOptionValueLength - 1,
                  " bytes of a directory's name, found ",
                  source.temp_directory.size());
    (void)options.set_option(berth::executorch::kTempDirectory,
                             source.temp_directory.c_str());
  }
  if (!source.placement.empty())
    (void)options.set_option(berth::executorch::kPlacement,
                             source.placement.c_str());
  (void)options.set_option(berth::executorch::kReplicas, source.replicas);
  (void)options_map.set_options(berth::executorch::kBackendName,
                                options.view());
  if (const auto error = module->load(options_map); error != runtime::Error::Ok)
    return failed("loading '" + source.path + "'", error);
  auto names = module->method_names();
  if (!names.ok()) return failed("listing methods", names.error());
  if (!names->contains(source.method)) {
    std::vector<std::string> sorted(names->begin(), names->end());
    std::ranges::sort(sorted);
    std::string listed;
    for (const std::string& name : sorted)
      listed += (listed.empty() ? "" : ", ") + name;
    return fail(Code::kNotFound, "'", source.path, "' has no method '",
                source.method, "', it has: ", listed);
  }
  if (const auto error = module->load_method(source.method);
      error != runtime::Error::Ok)
    return failed(
        "loading method '" + source.method + "' of '" + source.path + "'",
        error);
  BERTH_TRY(auto inputs, noted(inputs_of(source.path, source.method),
                               "reading '" + source.path + "'"));
  return std::make_unique<ProgramRunner>(std::move(module), source.method,
                                         std::move(inputs));
}

}  // namespace berth::cli
