// The parts of berth._native.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <span>
#include <string>

#include "berth/tensor.h"

namespace berth::python {

void bind_tensor(nanobind::module_& module);
void bind_specs(nanobind::module_& module);
void bind_package(nanobind::module_& module);
void bind_model(nanobind::module_& module);

// Whether it is a str or has __fspath__.
bool is_path(nanobind::handle object);
// As the operating system's functions take it. Raises for what is no path.
std::string path_of(nanobind::handle object);

inline std::span<const std::byte> span_of(const nanobind::bytes& bytes) {
  return {static_cast<const std::byte*>(bytes.data()), bytes.size()};
}

// The same memory with elements of another type of the same size.
Tensor retyped(const Tensor& tensor, DType dtype);

}  // namespace berth::python
