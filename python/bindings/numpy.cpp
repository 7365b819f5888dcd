#include "numpy.h"

#include <nanobind/stl/string.h>

#include <utility>

#include "elements.h"

namespace nb = nanobind;

namespace berth::python {
namespace {

nb::str unsigned_type(std::size_t item_size) {
  return nb::str(("u" + std::to_string(item_size)).c_str());
}

// ml_dtypes' class of that name, or nothing.
nb::object ml_dtype(DType dtype) {
  PyObject* module =
      PyDict_GetItemString(PyImport_GetModuleDict(), "ml_dtypes");
  if (module == nullptr) return nb::object();
  return nb::getattr(nb::handle(module), to_string(dtype), nb::object());
}

}  // namespace

Numpy::Numpy() {
  const nb::module_ module = nb::module_::import_("numpy");
  array_ = nb::object(module.attr("ndarray")).release();
  number_ = nb::object(module.attr("generic")).release();
  as_array_ = nb::object(module.attr("asarray")).release();
  row_major_ = nb::object(module.attr("ascontiguousarray")).release();
}

std::string Numpy::dtype_name(nb::handle array) const {
  return nb::cast<std::string>(
      nb::str(nb::object(as_array_(array).attr("dtype"))));
}

nb::object Numpy::row_major(nb::handle array) const {
  return row_major_(array);
}

nb::object Numpy::bits(nb::handle array, std::size_t item_size) const {
  return array.attr("view")(unsigned_type(item_size));
}

nb::object Numpy::from_tensor(Tensor tensor) const {
  const DType dtype = tensor.dtype();
  if (format_of(dtype) != nullptr)
    return as_array_(nb::cast(std::move(tensor)));
  const nb::object type = ml_dtype(dtype);
  nb::object made = nb::cast(std::move(tensor));
  return type.is_valid() ? made.attr("bits")().attr("view")(type) : made;
}

const Numpy& numpy() {
  static const Numpy* const found = new Numpy;
  return *found;
}

}  // namespace berth::python
