// One element of a tensor as a number, and a number as another type.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "berth/result.h"
#include "berth/tensor.h"
#include "tensor/element.h"

namespace berth::shim {

// The widest type of each kind. bool is unsigned, and 0 or 1.
using Number =
    std::variant<std::int64_t, std::uint64_t, double, tensor::Complex<double>>;

// The only element of `tensor`. Fails with kInvalidArgument when there is not
// exactly one, kUnsupported for the 8-bit floats.
Result<Number> number_of(const Tensor& tensor);

// `number` as a T, or nothing when T cannot hold it: integers out of range, NaN
// or infinity as an integer, finite reals beyond T, complex numbers as real
// ones. As in torch, a fraction is cut off and any number but zero is true.
template <typename T>
std::optional<T> convert(const Number& number) noexcept;

}  // namespace berth::shim
