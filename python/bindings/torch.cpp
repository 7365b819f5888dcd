#include "torch.h"

#include "capsule.h"
#include "errors.h"

namespace nb = nanobind;

namespace berth::python {
namespace {

constexpr const char* kExchange = "__dlpack_c_exchange_api__";
constexpr const char* kExchangeCapsule = "dlpack_exchange_api";
constexpr std::uint32_t kMajorVersion = 1;

const DLPackExchangeAPI* exchange_of(nb::handle type) {
  if (!nb::hasattr(type, kExchange)) return nullptr;
  const nb::object capsule = type.attr(kExchange);
  const auto* found = static_cast<const DLPackExchangeAPI*>(
      PyCapsule_GetPointer(capsule.ptr(), kExchangeCapsule));
  if (found == nullptr) PyErr_Clear();
  if (found == nullptr || found->version.major != kMajorVersion ||
      found->dltensor_from_py_object_no_sync == nullptr)
    return nullptr;
  return found;
}

bool is_true(const nb::object& object) {
  return object.is(nb::handle(Py_True));
}

}  // namespace

const Torch* Torch::find() {
  static Torch* found = nullptr;
  if (found != nullptr) return found;
  static PyObject* const modules = PyImport_GetModuleDict();
  PyObject* module = PyDict_GetItemString(modules, "torch");
  if (module == nullptr) return nullptr;
  Torch torch;
  if (torch.look_up(module)) found = new Torch(torch);
  return found;
}

// False while torch is still being imported.
bool Torch::look_up(nb::handle module) {
  for (const char* name : {"Tensor", "nn", "utils", "_C"})
    if (!nb::hasattr(module, name)) return false;
  if (!nb::hasattr(module.attr("nn"), "Parameter") ||
      !nb::hasattr(module.attr("utils"), "dlpack"))
    return false;
  const nb::object dlpack = module.attr("utils").attr("dlpack");
  tensor_ = nb::object(module.attr("Tensor")).release();
  parameter_ = nb::object(module.attr("nn").attr("Parameter")).release();
  to_dlpack_ = nb::object(dlpack.attr("to_dlpack")).release();
  from_dlpack_ = nb::object(dlpack.attr("from_dlpack")).release();
  is_negated_ = nb::object(tensor_.attr("is_neg")).release();
  is_conjugated_ = nb::object(tensor_.attr("is_conj")).release();
  exchange_ = exchange_of(tensor_);
  return true;
}

bool Torch::is_tensor(nb::handle object) const {
  return is_plain(object) || nb::isinstance(object, tensor_);
}

bool Torch::is_plain(nb::handle object) const noexcept {
  const nb::handle type = object.type();
  return type.is(tensor_) || type.is(parameter_);
}

bool Torch::is_lazy(nb::handle tensor, bool is_complex) const {
  return (is_complex && is_true(is_conjugated_(tensor))) ||
         is_true(is_negated_(tensor));
}

nb::object Torch::to_capsule(nb::handle tensor) const {
  return to_dlpack_(
      tensor.attr("detach")().attr("resolve_conj")().attr("resolve_neg")());
}

nb::object Torch::from_tensor(const Tensor& tensor) const {
  if (exchange_ != nullptr) {
    auto* array = value_or_raise(tensor.to_dlpack());
    void* made = nullptr;
    if (exchange_->managed_tensor_to_py_object_no_sync(array, &made) != 0) {
      array->deleter(array);
      raise_from_python("torch does not take an output");
    }
    return nb::steal(static_cast<PyObject*>(made));
  }
  return from_dlpack_(
      python::to_capsule(value_or_raise(tensor.to_dlpack_unversioned())));
}

}  // namespace berth::python
