// berth.Tensor: an output whose elements NumPy has no type for.
#include "berth/tensor.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "capsule.h"
#include "elements.h"
#include "errors.h"
#include "inputs.h"
#include "module.h"
#include "numpy.h"

namespace nb = nanobind;
using namespace nanobind::literals;

namespace berth::python {
namespace {

using Extents = nb::typed<nb::tuple, std::int64_t, nb::ellipsis>;

Extents extents(std::span<const std::int64_t> values) {
  nb::list made;
  for (const std::int64_t value : values) made.append(value);
  return Extents(nb::tuple(made));
}

int refuse(Py_buffer* view, PyObject* kind, const char* reason) {
  view->obj = nullptr;
  PyErr_SetString(kind, reason);
  return -1;
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  const Tensor& tensor = *nb::inst_ptr<Tensor>(self);
  const char* format = format_of(tensor.dtype());
  if (format == nullptr)
    return refuse(view, PyExc_BufferError,
                  "the buffer protocol has no such element type");
  const bool wants_strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
  if (!wants_strides && !tensor.is_contiguous())
    return refuse(view, PyExc_BufferError, "the tensor is not row-major");
  // Sizes, then strides in bytes; never nothing, which would be an error.
  const std::size_t dim = tensor.sizes().size();
  auto* layout = static_cast<Py_ssize_t*>(
      PyMem_Malloc((2 * dim + 1) * sizeof(Py_ssize_t)));
  if (layout == nullptr)
    return refuse(view, PyExc_MemoryError, "out of memory");
  const auto item = static_cast<Py_ssize_t>(element_size(tensor.dtype()));
  for (std::size_t i = 0; i < dim; ++i) {
    layout[i] = tensor.sizes()[i];
    layout[dim + i] = tensor.strides()[i] * item;
  }
  static char nothing;
  view->buf = tensor.data() == nullptr ? &nothing : tensor.data();
  view->obj = nb::handle(self).inc_ref().ptr();
  view->len = static_cast<Py_ssize_t>(tensor.size_bytes());
  view->itemsize = item;
  view->readonly = 0;
  view->ndim = static_cast<int>(dim);
  view->format = (flags & PyBUF_FORMAT) ? const_cast<char*>(format) : nullptr;
  view->shape = (flags & PyBUF_ND) ? layout : nullptr;
  view->strides = wants_strides ? layout + dim : nullptr;
  view->suboffsets = nullptr;
  view->internal = layout;
  return 0;
}

void release_buffer(PyObject*, Py_buffer* view) noexcept {
  PyMem_Free(view->internal);
}

nb::object dlpack(const Tensor& tensor, nb::handle /*stream*/,
                  nb::handle max_version, nb::handle dl_device,
                  nb::handle copy) {
  if (!dl_device.is_none() && !dl_device.equal(nb::make_tuple(int{kDLCPU}, 0)))
    raise(fail(Code::kUnsupported, "Berth's tensors are on the CPU").value());
  const Tensor given = PyObject_IsTrue(copy.ptr()) == 1
                           ? value_or_raise(tensor.clone())
                           : tensor;
  if (!max_version.is_none() && nb::cast<int>(max_version[0]) >= 1)
    return to_capsule(value_or_raise(given.to_dlpack()));
  return to_capsule(value_or_raise(given.to_dlpack_unversioned()));
}

nb::object bits(const Tensor& tensor) {
  const DType integers = unsigned_of(element_size(tensor.dtype()));
  return numpy().from_tensor(retyped(tensor, integers));
}

nb::object as_numpy(const Tensor& tensor) {
  nb::object made = numpy().from_tensor(tensor);
  if (nb::isinstance<Tensor>(made))
    raise(fail(Code::kUnsupported, "NumPy has no ", to_string(tensor.dtype()),
               "; import ml_dtypes before, or take the bits()")
              .value());
  return made;
}

Tensor from_bits(nb::handle array, const std::string& dtype_name) {
  const std::optional<DType> dtype = dtype_of_name(dtype_name);
  if (!dtype)
    raise(fail(Code::kInvalidArgument, "'", dtype_name,
               "' is the name of no element type")
              .value());
  const Tensor copy =
      value_or_raise(Inputs(nb::make_tuple(array), {}).tensors()[0].clone());
  if (element_size(copy.dtype()) != element_size(*dtype))
    raise(fail(Code::kInvalidArgument, "the bits of ", dtype_name,
               " take elements of ", element_size(*dtype), " bytes, found ",
               element_size(copy.dtype()))
              .value());
  return retyped(copy, *dtype);
}

std::string describe(const Tensor& tensor) {
  std::string text = std::string("berth.Tensor(") + to_string(tensor.dtype());
  const char* before = ", [";
  for (const std::int64_t size : tensor.sizes()) {
    text += before + std::to_string(size);
    before = ", ";
  }
  return text + (tensor.dim() == 0 ? ", [])" : "])");
}

}  // namespace

Tensor retyped(const Tensor& tensor, DType dtype) {
  auto* array = value_or_raise(tensor.to_dlpack());
  array->dl_tensor.dtype = dlpack_of(dtype);
  auto made = Tensor::from_dlpack(array);
  if (!made) array->deleter(array);
  return value_or_raise(std::move(made));
}

void bind_tensor(nb::module_& module) {
  static PyType_Slot slots[] = {
      {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
      {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
      {0, nullptr}};
  nb::class_<Tensor>(
      module, "Tensor", nb::type_slots(slots),
      "Elements that NumPy has no type for, such as bfloat16. Other libraries\n"
      "take it by DLPack, and so do models.")
      .def_static("from_bits", from_bits, "array"_a, "dtype"_a,
                  "A tensor of the elements whose bits are the integers of\n"
                  "`array`; a copy. `dtype` is torch's name, \"bfloat16\".")
      .def_prop_ro("shape", [](const Tensor& t) { return extents(t.sizes()); })
      .def_prop_ro(
          "strides", [](const Tensor& t) { return extents(t.strides()); },
          "In elements.")
      .def_prop_ro(
          "dtype", [](const Tensor& t) { return to_string(t.dtype()); },
          "torch's name, \"bfloat16\".")
      .def_prop_ro("nbytes", [](const Tensor& t) { return t.size_bytes(); })
      .def("bits", bits,
           nb::sig("def bits(self) -> numpy.typing.NDArray[typing.Any]"),
           "The elements' bits, an array of unsigned integers on the same\n"
           "memory.")
      .def("numpy", as_numpy,
           nb::sig("def numpy(self) -> numpy.typing.NDArray[typing.Any]"),
           "An array on the same memory. Where NumPy has no such elements it\n"
           "is of ml_dtypes' type, if the program imported that package, and\n"
           "an UnsupportedError if not.")
      .def("__dlpack__", dlpack, nb::kw_only(), "stream"_a = nb::none(),
           "max_version"_a = nb::none(), "dl_device"_a = nb::none(),
           "copy"_a = nb::none())
      .def("__dlpack_device__",
           [](const Tensor&) { return std::pair(int{kDLCPU}, 0); })
      .def("__repr__", describe);
}

}  // namespace berth::python
