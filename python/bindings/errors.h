// Berth's errors as Python's exceptions. The one place of this module that
// throws.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <utility>

#include "berth/error.h"
#include "berth/result.h"

namespace berth::python {

// Raises the class of berth.errors that has `error`'s code, with its text.
[[noreturn]] void raise(const Error& error);

// The value of `result`, or its error raised.
template <typename T>
T value_or_raise(Result<T> result) {
  if (!result) raise(result.error());
  return std::move(*result);
}

// What `call` returns, which is made without the GIL.
template <typename Call>
auto unlocked(Call call) {
  const nanobind::gil_scoped_release running;
  return call();
}

void raise_unless_ok(const Status& status);

// TypeError.
[[noreturn]] void raise_type_error(const std::string& text);

// An exception that a call of Python's left, as berth.InvalidArgumentError
// whose cause it is.
[[noreturn]] void raise_from_python(const std::string& doing);

}  // namespace berth::python
