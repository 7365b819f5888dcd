// Runs the body of one function that delegates call.
#pragma once

#include <cstdint>
#include <exception>

#include "berth/result.h"
#include "shim/reason.h"

namespace berth::shim {

// Runs `body`, which returns a Status. Nothing escapes: the delegate was not
// compiled by us and must not see our exceptions. Returns torch's 0 or 1 and
// keeps the reason of a failure. Success costs the test of one pointer.
template <typename Body>
std::int32_t trap(const char* entry, const Body& body) noexcept {
  try {
    const Status status = body();
    if (status.has_value()) [[likely]]
      return 0;
    keep_reason(entry, status.error().to_string());
  } catch (const std::exception& error) {
    keep_reason(entry, error.what());
  } catch (...) {
    keep_reason(entry, "unknown exception");
  }
  return 1;
}

}  // namespace berth::shim
