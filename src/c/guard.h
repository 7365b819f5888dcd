// Runs the body of one function that C calls.
#pragma once

#include <exception>
#include <initializer_list>
#include <new>

#include "berth/berth.h"
#include "berth/result.h"

namespace berth::c {

// Keeps the sentence for berth_last_error() of this thread; returns the code.
berth_code keep(const Error& error) noexcept;

// The same with what the C++ library threw.
berth_code keep(Code code, const char* text) noexcept;

// Runs `body`, which returns a Status. Nothing escapes: C cannot be thrown
// through.
template <typename Body>
berth_code guard(const Body& body) noexcept {
  try {
    const Status status = body();
    return status ? BERTH_OK : keep(status.error());
  } catch (const std::bad_alloc&) {
    return keep(Code::kOutOfMemory, "no memory");
  } catch (const std::exception& error) {
    return keep(Code::kInternal, error.what());
  }
}

// An argument that a function needs, and what it is called in berth.h.
struct Needed {
  const void* argument;
  const char* name;
};

// Fails with kInvalidArgument for the first one that is null.
Status check(std::initializer_list<Needed> needed);

}  // namespace berth::c
