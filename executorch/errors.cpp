#include "executorch/errors.h"

#include <executorch/runtime/platform/log.h>

#include <optional>
#include <utility>

#include "berth/executorch.h"

namespace berth::executorch {

using RuntimeError = ::executorch::runtime::Error;

RuntimeError to_runtime(Code code, Stage stage) noexcept {
  switch (code) {
    case Code::kInvalidArgument:
      return RuntimeError::InvalidArgument;
    case Code::kNotFound:
      return RuntimeError::NotFound;
    case Code::kCorrupt:
      return RuntimeError::InvalidProgram;
    case Code::kIncompatible:
      return RuntimeError::DelegateInvalidCompatibility;
    case Code::kUnsupported:
      return RuntimeError::NotSupported;
    case Code::kOutOfMemory:
      return stage == Stage::kInit
                 ? RuntimeError::DelegateMemoryAllocationFailed
                 : RuntimeError::MemoryAllocationFailed;
    case Code::kSystem:
      return RuntimeError::AccessFailed;
    case Code::kBusy:
      return RuntimeError::OutOfResources;
    case Code::kDelegate:
    case Code::kInternal:
      break;
  }
  return RuntimeError::Internal;
}

namespace {
thread_local std::optional<Error> last_error;
}  // namespace

RuntimeError report(const Error& error, Stage stage) {
  ET_LOG(Error, "%s", error.to_string().c_str());
  last_error = error;
  return to_runtime(error.code(), stage);
}

std::optional<Error> take_last_error() {
  return std::exchange(last_error, std::nullopt);
}

}  // namespace berth::executorch
