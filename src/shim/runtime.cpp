// What delegates ask of the runtime that is about no tensor.
#include <stdexcept>
#include <string>

#include "shim/functions.h"
#include "shim/reason.h"

namespace {

// Nothing here computes gradients; delegates switch this off for a run and back
// on after it, and expect to find it as they left it.
thread_local bool grad_mode = true;

}  // namespace

bool aoti_berth_grad_mode_is_enabled() { return grad_mode; }

void aoti_berth_grad_mode_set_enabled(bool enabled) { grad_mode = enabled; }

// A failed check must not return: the generated code behind it assumes that the
// condition holds. torch throws through the delegate's frames, which were
// compiled for that, and the delegate's entry point catches it, returns failure
// and hands the text out as its last error. So this function throws too; it is
// the only one of the core that does, and it is never called by Berth itself.
void aoti_berth_check(bool condition, const char* function, const char* file,
                      std::uint32_t line, const char* message) {
  if (condition) return;
  const auto text = [](const char* part) {
    return part != nullptr ? part : "?";
  };
  const std::string reason = std::string(text(message)) + " (" +
                             text(function) + " at " + text(file) + ":" +
                             std::to_string(line) + ")";
  berth::shim::keep_reason("check failed", reason);
  throw std::runtime_error(reason);
}

// Berth prints nothing, and a warning changes no result.
void aoti_berth_warn(const char*, const char*, std::uint32_t, const char*) {}
