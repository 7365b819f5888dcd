#include <executorch/runtime/backend/interface.h>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "berth/executorch.h"
#include "executorch/delegate.h"
#include "executorch/errors.h"
#include "executorch/payload.h"

namespace berth::executorch {
namespace {

namespace runtime = ::executorch::runtime;

// What the exporter recorded (python/berth/export), beside the method's name.
constexpr std::string_view kInstructionSet = "instruction_set";

// Runs `body`, which returns a Status. Exceptions end here: memory can run out
// anywhere, and the runtime is not built to be thrown through.
template <typename Body>
Status trap(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return fail(Code::kOutOfMemory, "out of memory");
  } catch (const std::exception& error) {
    return fail(Code::kInternal, "unexpected exception: ", error.what());
  }
}

// How many calls of one handle may overlap, and what one beyond them does.
Status read_concurrency(const runtime::BackendInitContext& context,
                        ModelOptions& options) {
  const auto replicas = context.get_runtime_spec<int>(kReplicas);
  if (replicas.ok()) {
    if (replicas.get() < 1)
      return fail(Code::kInvalidArgument, "the backend option '", kReplicas,
                  "' should be at least 1, found ", replicas.get());
    options.replicas = static_cast<std::size_t>(replicas.get());
  } else if (replicas.error() != runtime::Error::NotFound) {
    return fail(Code::kInvalidArgument, "the backend option '", kReplicas,
                "' should be an integer");
  }
  const auto given = context.get_runtime_spec<const char*>(kWhenBusy);
  if (!given.ok() && given.error() == runtime::Error::NotFound) return ok();
  const std::string_view when_busy = given.ok() ? given.get() : "";
  if (when_busy != kWhenBusyWait && when_busy != kWhenBusyFail)
    return fail(Code::kInvalidArgument, "the backend option '", kWhenBusy,
                "' should be the string '", kWhenBusyWait, "' or '",
                kWhenBusyFail, "'");
  options.when_busy =
      when_busy == kWhenBusyFail ? WhenBusy::kFail : WhenBusy::kWait;
  return ok();
}

// A string option; nothing when it is not given.
Result<std::optional<std::string>> string_option(
    const runtime::BackendInitContext& context, const char* key) {
  const auto value = context.get_runtime_spec<const char*>(key);
  if (value.ok()) return std::optional<std::string>(value.get());
  if (value.error() == runtime::Error::NotFound)
    return std::optional<std::string>();
  return fail(Code::kInvalidArgument, "the backend option '", key,
              "' should be a string");
}

Result<ModelOptions> options_of(const runtime::BackendInitContext& context,
                                runtime::ArrayRef<runtime::CompileSpec> specs) {
  ModelOptions options;
  const char* method = context.get_method_name();
  options.label = method != nullptr ? method : "";
  for (const runtime::CompileSpec& spec : specs) {
    if (spec.key == nullptr || kInstructionSet != spec.key) continue;
    options.instruction_set.assign(static_cast<const char*>(spec.value.buffer),
                                   spec.value.nbytes);
  }
  BERTH_TRY(const auto directory, string_option(context, kTempDirectory));
  options.temp_directory = directory.value_or("");
  BERTH_TRY(const auto placement, string_option(context, kPlacement));
  if (placement) {
    BERTH_TRY(options.placement,
              noted(parse_placement(*placement),
                    "reading the backend option 'placement'"));
  }
  BERTH_CHECK(read_concurrency(context, options));
  return options;
}

// Owns     nothing; each handle is a Delegate of its own.
// Threads  any call but destroy may overlap with any; executes of one handle
//          do as far as it has replicas.
class Backend final : public runtime::BackendInterface {
 public:
  bool is_available() const override { return true; }

  runtime::Result<runtime::DelegateHandle*> init(
      runtime::BackendInitContext& context, runtime::FreeableBuffer* processed,
      runtime::ArrayRef<runtime::CompileSpec> specs) const override {
    std::unique_ptr<Delegate> delegate;
    const Status status = trap([&]() -> Status {
      BERTH_TRY(const ModelOptions options, options_of(context, specs));
      const std::string_view bytes(static_cast<const char*>(processed->data()),
                                   processed->size());
      BERTH_TRY(const Payload payload, Payload::parse(bytes, options.label));
      BERTH_TRY(Delegate loaded,
                Delegate::load(payload, context.get_named_data_map(), options));
      delegate = std::make_unique<Delegate>(std::move(loaded));
      return ok();
    });
    if (!status) return report(status.error(), Stage::kInit);
    // The keys are all that the bytes said.
    processed->Free();
    return delegate.release();
  }

  runtime::Error execute(
      runtime::BackendExecutionContext&, runtime::DelegateHandle* handle,
      runtime::Span<runtime::EValue*> values) const override {
    if (handle == nullptr) return runtime::Error::DelegateInvalidHandle;
    const Status status =
        trap([&] { return static_cast<Delegate*>(handle)->execute(values); });
    return status ? runtime::Error::Ok
                  : report(status.error(), Stage::kExecute);
  }

  void destroy(runtime::DelegateHandle* handle) const override {
    delete static_cast<Delegate*>(handle);
  }
};

// Never destroyed: programs may outlive static destruction.
const bool kRegistered = [] {
  static Backend* const backend = new Backend;
  return runtime::register_backend({kBackendName, backend}) ==
         runtime::Error::Ok;
}();

}  // namespace

bool is_registered() noexcept { return kRegistered; }

}  // namespace berth::executorch
