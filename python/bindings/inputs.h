// The inputs of a run, as Python has them.
#pragma once

#include <nanobind/nanobind.h>

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "berth/result.h"
#include "berth/signature.h"
#include "berth/tensor.h"

namespace berth::python {

// True for what Inputs takes: arrays of NumPy's and berth.Tensor, what has
// __dlpack__, and buffers that are more than bytes. A number is none.
bool is_tensor(nanobind::handle object);

// Owns     references to the objects, their buffers, and copies of those that
//          have no strides a Tensor can have.
// Threads  made and destroyed by whoever holds the GIL.
// Fails    by raising: TypeError for what is no tensor, berth's own errors for
//          tensors that no model can take.
class Inputs {
 public:
  // `specs` say what to call an input in an error.
  Inputs(nanobind::handle list, std::span<const TensorSpec> specs);

  std::span<const Tensor> tensors() const noexcept { return tensors_; }

  // Whether one of them is torch's.
  bool any_torch() const noexcept { return any_torch_; }

 private:
  Tensor take(nanobind::handle object);
  Tensor take_torch(nanobind::handle object);
  Tensor take_buffer(nanobind::handle object);
  Tensor take_strange_array(nanobind::handle array);
  Tensor take_protocol(nanobind::handle object);
  // The value, or its error raised with a note of which input it was.
  Tensor checked(Result<Tensor> tensor) const;
  std::string where() const;

  // A buffer that is released with it; of nothing at first.
  struct Buffer {
    Buffer() = default;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { PyBuffer_Release(&view); }
    Py_buffer view{};
  };

  std::span<const TensorSpec> specs_;
  nanobind::tuple objects_;
  std::deque<Buffer> buffers_;
  std::vector<Tensor> tensors_;
  bool any_torch_ = false;
};

}  // namespace berth::python
