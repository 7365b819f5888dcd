// PyTorch, where the program imported it. Nothing here does.
#pragma once

#include <nanobind/nanobind.h>

#include "berth/tensor.h"
#include "dlpack_abi.h"

namespace berth::python {

// Owns     references to torch's classes, for good.
// Threads  those that hold the GIL.
class Torch {
 public:
  // Null before torch was imported.
  static const Torch* find();

  bool is_tensor(nanobind::handle object) const;

  // True for the two classes whose instances are nothing more than their
  // memory, and for which exchange() can be used.
  bool is_plain(nanobind::handle object) const noexcept;

  // True when elements are to be read conjugated or negated, which DLPack
  // cannot say. A property of a Tensor's that torch itself hides.
  bool is_lazy(nanobind::handle tensor, bool is_complex) const;

  // The tensor's memory as a DLPack capsule, without its gradient, its lazy
  // conjugation written out.
  nanobind::object to_capsule(nanobind::handle tensor) const;

  // A torch.Tensor that shares `tensor`'s memory.
  nanobind::object from_tensor(const Tensor& tensor) const;

  // Null with a torch that is too old to have it.
  const DLPackExchangeAPI* exchange() const noexcept { return exchange_; }

 private:
  Torch() = default;
  bool look_up(nanobind::handle module);

  nanobind::handle tensor_;
  nanobind::handle parameter_;
  nanobind::handle to_dlpack_;
  nanobind::handle from_dlpack_;
  nanobind::handle is_negated_;
  nanobind::handle is_conjugated_;
  const DLPackExchangeAPI* exchange_ = nullptr;
};

}  // namespace berth::python
