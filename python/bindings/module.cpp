// berth._native: Berth's C++ interface, for the Python modules beside it.
#include "module.h"

#include <nanobind/nanobind.h>

#include <string>

#include "inputs.h"

namespace nb = nanobind;

namespace berth::python {

bool is_path(nb::handle object) {
  return nb::isinstance<nb::str>(object) || nb::hasattr(object, "__fspath__");
}

std::string path_of(nb::handle object) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(object.ptr(), &bytes) == 0)
    nb::raise_python_error();
  const nb::bytes owned = nb::steal<nb::bytes>(bytes);
  return {owned.c_str(), owned.size()};
}

}  // namespace berth::python

NB_MODULE(_native, module) {
  using namespace nanobind::literals;
  module.doc() = "Berth's C++ interface; use the package berth.";
  berth::python::bind_tensor(module);
  berth::python::bind_specs(module);
  berth::python::bind_package(module);
  berth::python::bind_model(module);
  module.def("is_tensor", berth::python::is_tensor, "value"_a.none(),
             "Whether a model can take it as an input.");
}
