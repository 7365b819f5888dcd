#include "c/guard.h"

#include <string>

namespace berth::c {
namespace {

// Whole, unlike the shim's reasons: it may list every operator that a library
// misses.
thread_local std::string kept;

// What stands for a sentence for which there was no memory, until the next one.
thread_local const char* shown = "";

// One enumerator of C is that of C++.
#define BERTH_SAME_CODE(c, cpp) \
  static_assert(static_cast<Code>(BERTH_##c) == Code::k##cpp)
BERTH_SAME_CODE(INVALID_ARGUMENT, InvalidArgument);
BERTH_SAME_CODE(NOT_FOUND, NotFound);
BERTH_SAME_CODE(CORRUPT, Corrupt);
BERTH_SAME_CODE(INCOMPATIBLE, Incompatible);
BERTH_SAME_CODE(UNSUPPORTED, Unsupported);
BERTH_SAME_CODE(OUT_OF_MEMORY, OutOfMemory);
BERTH_SAME_CODE(SYSTEM, System);
BERTH_SAME_CODE(DELEGATE, Delegate);
BERTH_SAME_CODE(INTERNAL, Internal);
BERTH_SAME_CODE(BUSY, Busy);

}  // namespace

berth_code keep(const Error& error) noexcept {
  const auto code = static_cast<berth_code>(error.code());
  try {
    kept = error.to_string();
    shown = kept.c_str();
  } catch (const std::exception&) {
    shown = to_string(error.code());
  }
  return code;
}

berth_code keep(Code code, const char* text) noexcept {
  try {
    return keep(Error(code, text));
  } catch (const std::exception&) {
    shown = to_string(code);
    return static_cast<berth_code>(code);
  }
}

Status check(std::initializer_list<Needed> needed) {
  for (const Needed& each : needed) {
    if (each.argument == nullptr)
      return fail(Code::kInvalidArgument, "'", each.name, "' must not be null");
  }
  return ok();
}

}  // namespace berth::c

const char* berth_last_error() { return berth::c::shown; }
