// The few things of NumPy's that crossing tensors needs.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string>

#include "berth/tensor.h"

namespace berth::python {

// Owns     references to NumPy's classes and functions, for good.
// Threads  those that hold the GIL.
class Numpy {
 public:
  Numpy();

  // Exactly a numpy.ndarray, which most inputs are.
  bool is_array(nanobind::handle object) const noexcept {
    return object.type().is(array_);
  }
  // An ndarray, or of a class derived from it.
  bool is_any_array(nanobind::handle object) const {
    return nanobind::isinstance(object, array_);
  }
  // A numpy.float32(1), for example, which is no array.
  bool is_number(nanobind::handle object) const {
    return nanobind::isinstance(object, number_);
  }

  // "float32"; with its byte order where that is not this machine's.
  std::string dtype_name(nanobind::handle array) const;

  // A row-major copy.
  nanobind::object row_major(nanobind::handle array) const;

  // The same elements as unsigned integers of `item_size` bytes.
  nanobind::object bits(nanobind::handle array, std::size_t item_size) const;

  // An array on `tensor`'s memory. Where NumPy has no such elements itself: one
  // of ml_dtypes' types if the program imported that, else a berth.Tensor.
  nanobind::object from_tensor(Tensor tensor) const;

 private:
  nanobind::handle array_;
  nanobind::handle number_;
  nanobind::handle as_array_;
  nanobind::handle row_major_;
};

const Numpy& numpy();

}  // namespace berth::python
