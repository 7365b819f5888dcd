#include "capsule.h"

namespace nb = nanobind;

namespace berth::python {
namespace {

// By the protocol, a capsule whose array was taken has another name.
template <typename Array>
struct Name;
template <>
struct Name<DLManagedTensorVersioned> {
  static constexpr const char* kFull = "dltensor_versioned";
  static constexpr const char* kUsed = "used_dltensor_versioned";
};
template <>
struct Name<DLManagedTensor> {
  static constexpr const char* kFull = "dltensor";
  static constexpr const char* kUsed = "used_dltensor";
};

template <typename Array>
void destroy(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, Name<Array>::kFull)) return;
  auto* array =
      static_cast<Array*>(PyCapsule_GetPointer(capsule, Name<Array>::kFull));
  array->deleter(array);
}

template <typename Array>
nb::object make(Array* array) {
  PyObject* made = PyCapsule_New(array, Name<Array>::kFull, destroy<Array>);
  if (made == nullptr) {
    array->deleter(array);
    nb::raise_python_error();
  }
  return nb::steal(made);
}

template <typename Array>
Result<Tensor> take(nb::handle capsule) {
  auto* array = static_cast<Array*>(
      PyCapsule_GetPointer(capsule.ptr(), Name<Array>::kFull));
  // On failure, the array stays the capsule's.
  BERTH_TRY(Tensor tensor, Tensor::from_dlpack(array));
  PyCapsule_SetName(capsule.ptr(), Name<Array>::kUsed);
  PyCapsule_SetDestructor(capsule.ptr(), nullptr);
  return tensor;
}

}  // namespace

nb::object to_capsule(DLManagedTensorVersioned* array) { return make(array); }
nb::object to_capsule(DLManagedTensor* array) { return make(array); }

Result<Tensor> take_capsule(nb::handle capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), Name<DLManagedTensorVersioned>::kFull))
    return take<DLManagedTensorVersioned>(capsule);
  if (PyCapsule_IsValid(capsule.ptr(), Name<DLManagedTensor>::kFull))
    return take<DLManagedTensor>(capsule);
  return fail(Code::kInvalidArgument,
              "expected an unused DLPack capsule from __dlpack__()");
}

}  // namespace berth::python
