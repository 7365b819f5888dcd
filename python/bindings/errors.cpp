#include "errors.h"

#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace berth::python {
namespace {

nb::object exception_of(const Error& error) {
  const nb::object make = nb::module_::import_("berth.errors").attr("make");
  return make(static_cast<int>(error.code()), error.to_string());
}

}  // namespace

void raise(const Error& error) {
  const nb::object exception = exception_of(error);
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
  throw nb::python_error();
}

void raise_unless_ok(const Status& status) {
  if (!status) raise(status.error());
}

void raise_type_error(const std::string& text) {
  throw nb::type_error(text.c_str());
}

void raise_from_python(const std::string& doing) {
  nb::python_error cause;
  const std::string reason = nb::cast<std::string>(nb::str(cause.value()));
  const auto error = fail(Code::kInvalidArgument, doing, ": ", reason);
  const nb::object exception = exception_of(error.value());
  PyException_SetCause(exception.ptr(), cause.value().inc_ref().ptr());
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
  throw nb::python_error();
}

}  // namespace berth::python
