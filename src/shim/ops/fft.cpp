#include "shim/ops/fft.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "shim/functions.h"
#include "shim/ops/arguments.h"
#include "shim/ops/empty_like.h"
#include "shim/ops/fft_lines.h"
#include "shim/trap.h"
#include "tensor/layout.h"

namespace berth::shim {
namespace {

using tensor::Complex;
using tensor::Extents;
using tensor::to_text;
using Dims = std::vector<std::int64_t>;

std::int64_t at(Extents extents, std::int64_t dim) {
  return extents[static_cast<std::size_t>(dim)];
}

Status check(const Tensor& self, Extents dims, FftNorm norm) {
  std::array<bool, tensor::kMostDims> seen{};
  for (const std::int64_t dim : dims) {
    if (dim < 0 || dim >= self.dim())
      return fail(Code::kInvalidArgument, "expected dimensions from 0 to ",
                  self.dim() - 1, " of a tensor of sizes ",
                  to_text(self.sizes()), ", found ", to_text(dims));
    if (std::exchange(seen[static_cast<std::size_t>(dim)], true))
      return fail(Code::kInvalidArgument,
                  "expected each dimension once, found ", to_text(dims));
    if (at(self.sizes(), dim) < 1)
      return fail(Code::kInvalidArgument,
                  "expected dimensions with elements, found sizes ",
                  to_text(self.sizes()), " and dimensions ", to_text(dims));
  }
  if (norm != FftNorm::kNone && norm != FftNorm::kByRoot &&
      norm != FftNorm::kBySize)
    return fail(Code::kInvalidArgument,
                "expected a normalization of 0 to 2, "
                "found ",
                static_cast<std::int64_t>(norm));
  return ok();
}

double factor_of(const Tensor& self, Extents dims, FftNorm norm) {
  double size = 1;
  for (const std::int64_t dim : dims)
    size *= static_cast<double>(at(self.sizes(), dim));
  switch (norm) {
    case FftNorm::kByRoot:
      return 1 / std::sqrt(size);
    case FftNorm::kBySize:
      return 1 / size;
    default:
      return 1;
  }
}

void sort_by_stride(const Tensor& self, Dims::iterator begin,
                    Dims::iterator end) {
  std::stable_sort(begin, end, [&](std::int64_t a, std::int64_t b) {
    return at(self.strides(), a) > at(self.strides(), b);
  });
}

// All dimensions of the result as they lie in memory, outermost first; the last
// ones are `dims`, of which the last `fixed` stay where they are.
Dims order_of(const Tensor& self, Extents dims, std::size_t fixed) {
  Dims order;
  for (std::int64_t dim = 0; dim < self.dim(); ++dim)
    if (std::ranges::find(dims, dim) == dims.end()) order.push_back(dim);
  sort_by_stride(self, order.begin(), order.end());
  const auto others = static_cast<std::ptrdiff_t>(order.size());
  order.insert(order.end(), dims.begin(), dims.end());
  sort_by_stride(self, order.begin() + others,
                 order.end() - static_cast<std::ptrdiff_t>(fixed));
  return order;
}

Result<Tensor> empty_in(const Dims& order, const Dims& sizes, DType dtype) {
  Dims strides(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t i = order.size(); i > 0; --i) {
    const auto dim = static_cast<std::size_t>(order[i - 1]);
    strides[dim] = stride;
    stride = tensor::outer_stride(stride, sizes[dim]);
  }
  return Tensor::empty_strided(sizes, strides, dtype);
}

// One after the other along the last `count` dimensions of `order`, innermost
// first; the first from `self`, the others in `out`.
template <typename T>
Status run(const Tensor& self, const Tensor& out, const Dims& order,
           std::size_t count, double factor, bool inverse) {
  const bool real = self.dtype() == tensor::kDTypeOf<T>;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t dim = order[order.size() - 1 - i];
    const Tensor& source = i == 0 ? self : out;
    FftLines<T> lines;
    lines.to = static_cast<Complex<T>*>(out.data());
    if (i == 0 && real)
      lines.real = static_cast<const T*>(self.data());
    else
      lines.from = static_cast<const Complex<T>*>(source.data());
    lines.size = at(source.sizes(), dim);
    lines.from_step = at(source.strides(), dim);
    lines.to_step = at(out.strides(), dim);
    lines.kept = at(out.sizes(), dim);
    lines.inverse = inverse;
    lines.factor = i == 0 ? factor : 1;
    for (const std::int64_t other : order)
      if (other != dim)
        lines.across.push_back({at(source.sizes(), other),
                                at(source.strides(), other),
                                at(out.strides(), other)});
    BERTH_CHECK(transform_lines(lines));
  }
  return ok();
}

Dims copy_of(Extents extents) { return {extents.begin(), extents.end()}; }

}  // namespace

Result<Tensor> fft_of_real(const Tensor& self, Extents dims, FftNorm norm,
                           bool onesided) {
  if (self.dtype() != DType::kFloat32 && self.dtype() != DType::kFloat64)
    return fail(Code::kUnsupported,
                "a Fourier transform of real numbers needs float32 or float64, "
                "found ",
                to_string(self.dtype()));
  if (dims.empty())
    return fail(Code::kInvalidArgument,
                "expected dimensions to transform, found none");
  BERTH_CHECK(check(self, dims, norm));
  const Dims order = order_of(self, dims, 1);
  Dims sizes = copy_of(self.sizes());
  std::int64_t& last = sizes[static_cast<std::size_t>(dims.back())];
  if (onesided) last = last / 2 + 1;
  const bool wide = self.dtype() == DType::kFloat64;
  BERTH_TRY(
      Tensor out,
      empty_in(order, sizes, wide ? DType::kComplex128 : DType::kComplex64));
  if (out.numel() == 0) return out;
  const double factor = factor_of(self, dims, norm);
  BERTH_CHECK(wide ? run<double>(self, out, order, dims.size(), factor, false)
                   : run<float>(self, out, order, dims.size(), factor, false));
  return out;
}

Result<Tensor> fft_of_complex(const Tensor& self, Extents dims, FftNorm norm,
                              bool forward) {
  if (self.dtype() != DType::kComplex64 && self.dtype() != DType::kComplex128)
    return fail(Code::kUnsupported,
                "a Fourier transform of complex numbers needs complex64 or "
                "complex128, found ",
                to_string(self.dtype()));
  BERTH_CHECK(check(self, dims, norm));
  if (dims.empty()) {
    BERTH_TRY(Tensor copy, empty_like(self, self.dtype()));
    BERTH_CHECK(copy.copy_from(self));
    return copy;
  }
  const Dims order = order_of(self, dims, 0);
  BERTH_TRY(Tensor out, empty_in(order, copy_of(self.sizes()), self.dtype()));
  if (out.numel() == 0) return out;
  const double factor = factor_of(self, dims, norm);
  BERTH_CHECK(
      self.dtype() == DType::kComplex128
          ? run<double>(self, out, order, dims.size(), factor, !forward)
          : run<float>(self, out, order, dims.size(), factor, !forward));
  return out;
}

}  // namespace berth::shim

using berth::Status;
using berth::Tensor;
using berth::shim::borrow;
using berth::shim::FftNorm;
using berth::shim::give;
using berth::shim::list_of;
using berth::shim::trap;

std::int32_t aoti_berth_cpu__fft_r2c(
    AtenTensorHandle self, const std::int64_t* dim, std::int64_t dim_len_,
    std::int64_t normalization, std::int32_t onesided, AtenTensorHandle* ret0) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* from, borrow(self));
    BERTH_TRY(const auto dims, list_of(dim, dim_len_));
    return give(berth::shim::fft_of_real(*from, dims, FftNorm{normalization},
                                         onesided != 0),
                ret0);
  });
}

std::int32_t aoti_berth_cpu__fft_c2c(
    AtenTensorHandle self, const std::int64_t* dim, std::int64_t dim_len_,
    std::int64_t normalization, std::int32_t forward, AtenTensorHandle* ret0) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* from, borrow(self));
    BERTH_TRY(const auto dims, list_of(dim, dim_len_));
    return give(berth::shim::fft_of_complex(*from, dims, FftNorm{normalization},
                                            forward != 0),
                ret0);
  });
}
