// Tensors as sets of lines along one dimension.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "berth/result.h"
#include "berth/tensor.h"
#include "tensor/layout.h"

namespace berth::shim {

// `dim` counted from 0; a tensor without dimensions counts as having one.
// Fails with kInvalidArgument.
inline Result<std::size_t> wrap_dim(std::int64_t dim, std::int64_t rank) {
  const std::int64_t count = rank == 0 ? 1 : rank;
  if (dim < -count || dim >= count)
    return fail(Code::kInvalidArgument, "dimension ", dim,
                " of a tensor that has ", rank);
  return static_cast<std::size_t>(dim < 0 ? dim + count : dim);
}

// One line of a tensor: `size` elements, `step` elements apart.
template <typename T>
struct Line {
  T* data;
  std::int64_t size;
  std::int64_t step;

  T& operator[](std::int64_t i) const noexcept { return data[i * step]; }
};

// Where the lines of several tensors along `dim` begin, in step: the tensors
// have the same sizes but for that dimension.
//
// Borrows  the tensors.
// Units    elements.
template <std::size_t N>
class Lines {
 public:
  Lines(std::array<const Tensor*, N> tensors, std::size_t dim)
      : tensors_(tensors), dim_(dim) {}

  // body(std::array<std::int64_t, N> offsets) for each line, in row-major
  // order; body returns a Status.
  template <typename Body>
  Status each(const Body& body) const {
    const auto sizes = tensors_[0]->sizes();
    std::array<std::int64_t, tensor::kMostDims> at{};
    std::array<std::int64_t, N> offsets{};
    for (std::size_t d = 0; d < sizes.size(); ++d)
      if (d != dim_ && sizes[d] == 0) return ok();
    for (;;) {
      BERTH_CHECK(body(offsets));
      std::size_t d = sizes.size();
      for (;; --d) {
        if (d == 0) return ok();
        if (d - 1 == dim_) continue;
        if (++at[d - 1] < sizes[d - 1]) break;
        at[d - 1] = 0;
        for (std::size_t n = 0; n < N; ++n)
          offsets[n] -= (sizes[d - 1] - 1) * tensors_[n]->strides()[d - 1];
      }
      for (std::size_t n = 0; n < N; ++n)
        offsets[n] += tensors_[n]->strides()[d - 1];
    }
  }

  // The line of tensor `n` that begins at `offset`.
  template <typename T>
  Line<T> line(std::size_t n, std::int64_t offset) const noexcept {
    const Tensor& tensor = *tensors_[n];
    const bool scalar = tensor.dim() == 0;
    return {static_cast<T*>(tensor.data()) + offset,
            scalar ? 1 : tensor.sizes()[dim_],
            scalar ? 0 : tensor.strides()[dim_]};
  }

 private:
  std::array<const Tensor*, N> tensors_;
  std::size_t dim_;
};

}  // namespace berth::shim
