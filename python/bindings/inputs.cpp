#include "inputs.h"

#include <nanobind/stl/string.h>

#include <cstdint>
#include <optional>

#include "capsule.h"
#include "elements.h"
#include "errors.h"
#include "module.h"
#include "numpy.h"
#include "torch.h"

namespace nb = nanobind;

namespace berth::python {
namespace {

constexpr const char* kProtocol = "__dlpack__";

// Numbers of NumPy's are buffers, and so are bytes.
bool is_buffer(nb::handle object) {
  return PyObject_CheckBuffer(object.ptr()) && !PyBytes_Check(object.ptr()) &&
         !PyByteArray_Check(object.ptr()) && !numpy().is_number(object);
}

// From the first to the last element.
std::size_t span_bytes(std::span<const std::int64_t> sizes,
                       std::span<const std::int64_t> strides, DType dtype) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    last += (sizes[i] - 1) * strides[i];
  }
  return static_cast<std::size_t>(last + 1) * element_size(dtype);
}

// A buffer's strides in elements; nothing when a Tensor cannot have them.
std::optional<std::vector<std::int64_t>> strides_of(const Py_buffer& buffer) {
  std::vector<std::int64_t> strides(static_cast<std::size_t>(buffer.ndim));
  for (std::size_t i = 0; i < strides.size(); ++i) {
    if (buffer.strides[i] < 0 || buffer.strides[i] % buffer.itemsize != 0) {
      // That of a single element means nothing.
      if (buffer.shape[i] <= 1) continue;
      return std::nullopt;
    }
    strides[i] = buffer.strides[i] / buffer.itemsize;
  }
  return strides;
}

}  // namespace

bool is_tensor(nb::handle object) {
  return nb::isinstance<Tensor>(object) || is_buffer(object) ||
         nb::hasattr(object, kProtocol);
}

Inputs::Inputs(nb::handle list, std::span<const TensorSpec> specs)
    : specs_(specs) {
  if (!PyList_Check(list.ptr()) && !PyTuple_Check(list.ptr()))
    raise_type_error("inputs must be a list or a tuple");
  // Another thread may change a list during the run.
  objects_ = nb::tuple(nb::borrow(list));
  tensors_.reserve(objects_.size());
  for (const nb::handle object : objects_) tensors_.push_back(take(object));
}

std::string Inputs::where() const {
  const std::size_t index = tensors_.size();
  std::string text = "input " + std::to_string(index);
  if (index < specs_.size() && !specs_[index].path.empty())
    text += " " + specs_[index].path;
  return text;
}

Tensor Inputs::checked(Result<Tensor> tensor) const {
  if (!tensor) raise(tensor.error().note("taking " + where()));
  return std::move(*tensor);
}

Tensor Inputs::take(nb::handle object) {
  if (numpy().is_array(object)) return take_buffer(object);
  if (const Torch* torch = Torch::find(); torch && torch->is_tensor(object))
    return take_torch(object);
  if (nb::isinstance<Tensor>(object)) return nb::cast<Tensor>(object);
  if (is_buffer(object)) return take_buffer(object);
  if (nb::hasattr(object, kProtocol)) return take_protocol(object);
  raise_type_error(where() + ": expected a tensor, found " +
                   nb::cast<std::string>(object.type().attr("__name__")));
}

Tensor Inputs::take_torch(nb::handle object) {
  const Torch& torch = *Torch::find();
  any_torch_ = true;
  DLTensor found;
  if (torch.exchange() == nullptr || !torch.is_plain(object))
    return checked(take_capsule(torch.to_capsule(object)));
  if (torch.exchange()->dltensor_from_py_object_no_sync(object.ptr(), &found))
    raise_from_python(where());
  const std::optional<DType> dtype = dtype_of_dlpack(found.dtype);
  if (found.device.device_type != kDLCPU || !dtype ||
      torch.is_lazy(object, found.dtype.code == kDLComplex))
    return checked(take_capsule(torch.to_capsule(object)));
  const auto dim = static_cast<std::size_t>(found.ndim);
  const std::span sizes(found.shape, dim), strides(found.strides, dim);
  return checked(Tensor::borrow(
      static_cast<char*>(found.data) + found.byte_offset,
      span_bytes(sizes, strides, *dtype), sizes, strides, *dtype));
}

Tensor Inputs::take_buffer(nb::handle object) {
  Py_buffer& buffer = buffers_.emplace_back().view;
  if (PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_RECORDS_RO) != 0) {
    if (!numpy().is_any_array(object)) raise_from_python(where());
    PyErr_Clear();
    return take_strange_array(object);
  }
  const char* format = buffer.format == nullptr ? "B" : buffer.format;
  const std::optional<DType> dtype =
      dtype_of_format(format, static_cast<std::size_t>(buffer.itemsize));
  if (!dtype) return take_strange_array(object);
  const auto strides = strides_of(buffer);
  if (!strides) return take_buffer(numpy().row_major(object));
  const std::vector<std::int64_t> sizes(buffer.shape,
                                        buffer.shape + buffer.ndim);
  return checked(Tensor::borrow(buffer.buf, span_bytes(sizes, *strides, *dtype),
                                sizes, *strides, *dtype));
}

// Types of other packages' that NumPy can hold and the protocol cannot name.
Tensor Inputs::take_strange_array(nb::handle array) {
  const std::string name = numpy().dtype_name(array);
  const std::optional<DType> dtype = dtype_of_name(name);
  if (!dtype || format_of(*dtype) != nullptr)
    raise(fail(Code::kInvalidArgument, where(), ": elements of type ", name,
               " are none that a model takes; expected numbers in this "
               "machine's byte order")
              .value());
  return retyped(take_buffer(numpy().bits(array, element_size(*dtype))),
                 *dtype);
}

Tensor Inputs::take_protocol(nb::handle object) {
  const nb::object method = object.attr(kProtocol);
  nb::dict names;
  names["max_version"] = nb::make_tuple(1, 1);
  PyObject* capsule =
      PyObject_Call(method.ptr(), nb::tuple().ptr(), names.ptr());
  if (capsule == nullptr && PyErr_ExceptionMatches(PyExc_TypeError)) {
    // From before there were versions.
    PyErr_Clear();
    capsule = PyObject_CallNoArgs(method.ptr());
  }
  if (capsule == nullptr) raise_from_python(where());
  return checked(take_capsule(nb::steal(capsule)));
}

}  // namespace berth::python
