// Operators that run along a dimension: cumsum and its kin.
#include <cmath>
#include <limits>

#include "shim/functions.h"
#include "shim/ops/arguments.h"
#include "shim/ops/cast.h"
#include "shim/ops/element_type.h"
#include "shim/ops/lines.h"
#include "shim/trap.h"

using berth::DType;
using berth::ok;
using berth::Result;
using berth::Status;
using berth::Tensor;
using berth::shim::borrow;
using berth::shim::give;
using berth::shim::Line;
using berth::shim::trap;

namespace berth::shim {
namespace {

// As torch, floats are summed in double, 16-bit floats in float.
template <typename T>
using Sum = std::conditional_t<std::is_same_v<T, float>, double, Wide<T>>;

// Sums and products of whole numbers are of int64 unless a dtype is given.
Result<Tensor> accumulated_from(const Tensor& self, const std::int32_t* dtype) {
  const DType wanted = dtype != nullptr            ? static_cast<DType>(*dtype)
                       : is_integral(self.dtype()) ? DType::kInt64
                                                   : self.dtype();
  return cast(self, wanted);
}

// out[i] = step(out[i - 1], in[i]), from `first`.
template <typename Step>
Result<Tensor> accumulate(const Tensor& self, std::int64_t dim,
                          const std::int32_t* dtype, const char* what,
                          int first, const Step& step) {
  BERTH_TRY(const std::size_t along, wrap_dim(dim, self.dim()));
  BERTH_TRY(const Tensor from, accumulated_from(self, dtype));
  BERTH_TRY(Tensor to, Tensor::empty(from.sizes(), from.dtype()));
  const Lines<2> lines({&from, &to}, along);
  BERTH_CHECK(with_real_type(from.dtype(), what, [&](auto type) {
    using T = typename decltype(type)::type;
    return lines.each([&](const auto& offsets) -> Status {
      const auto source = lines.template line<const T>(0, offsets[0]);
      const auto target = lines.template line<T>(1, offsets[1]);
      auto sum = static_cast<Sum<T>>(first);
      for (std::int64_t i = 0; i < source.size; ++i) {
        sum = static_cast<Sum<T>>(step(sum, Sum<T>(widen(source[i]))));
        target[i] = narrow<T>(sum);
      }
      return ok();
    });
  }));
  return to;
}

struct Extremes {
  Tensor values;
  Tensor indices;
};

// The largest (smallest) so far and where it is, the last of equals; a NaN
// stays.
template <typename Better>
Result<Extremes> running_extreme(const Tensor& self, std::int64_t dim,
                                 const char* what, const Better& better) {
  BERTH_TRY(const std::size_t along, wrap_dim(dim, self.dim()));
  BERTH_TRY(Tensor values, Tensor::empty(self.sizes(), self.dtype()));
  BERTH_TRY(Tensor indices, Tensor::empty(self.sizes(), DType::kInt64));
  const Lines<3> lines({&self, &values, &indices}, along);
  BERTH_CHECK(with_real_type(self.dtype(), what, [&](auto type) {
    using T = typename decltype(type)::type;
    return lines.each([&](const auto& offsets) -> Status {
      const auto source = lines.template line<const T>(0, offsets[0]);
      const auto value = lines.template line<T>(1, offsets[1]);
      const auto index = lines.template line<std::int64_t>(2, offsets[2]);
      std::int64_t best = 0;
      for (std::int64_t i = 0; i < source.size; ++i) {
        const auto found = widen(source[i]);
        const auto kept = widen(source[best]);
        if (is_nan(found) || (!is_nan(kept) && better(found, kept))) best = i;
        value[i] = source[best];
        index[i] = best;
      }
      return ok();
    });
  }));
  return Extremes{std::move(values), std::move(indices)};
}

// log(exp(a) + exp(b)) without overflow.
double log_add_exp(double a, double b) noexcept {
  const double low = std::fmin(a, b);
  const double high = std::fmax(a, b);
  if (std::isnan(a) || std::isnan(b)) return a + b;
  if (low == high && std::isinf(low)) return low;
  return high + std::log1p(std::exp(low - high));
}

Result<Tensor> log_sum_exp(const Tensor& self, std::int64_t dim) {
  BERTH_TRY(const std::size_t along, wrap_dim(dim, self.dim()));
  if (is_integral(self.dtype()))
    return fail(Code::kUnsupported, "logcumsumexp of ", to_string(self.dtype()),
                " is not served");
  BERTH_TRY(Tensor to, Tensor::empty(self.sizes(), self.dtype()));
  const Lines<2> lines({&self, &to}, along);
  BERTH_CHECK(with_real_type(self.dtype(), "logcumsumexp", [&](auto type) {
    using T = typename decltype(type)::type;
    return lines.each([&](const auto& offsets) -> Status {
      const auto source = lines.template line<const T>(0, offsets[0]);
      const auto target = lines.template line<T>(1, offsets[1]);
      double sum = -std::numeric_limits<double>::infinity();
      for (std::int64_t i = 0; i < source.size; ++i) {
        sum = log_add_exp(sum, static_cast<double>(widen(source[i])));
        target[i] = narrow<T>(sum);
      }
      return ok();
    });
  }));
  return to;
}

Status give_both(Result<Extremes>&& found, AtenTensorHandle* values,
                 AtenTensorHandle* indices) {
  BERTH_TRY(Extremes both, std::move(found));
  return give_all<2>({std::move(both.values), std::move(both.indices)},
                     {values, indices});
}

}  // namespace
}  // namespace berth::shim

std::int32_t aoti_berth_cpu_cumsum(AtenTensorHandle self, std::int64_t dim,
                                   std::int32_t* dtype, AtenTensorHandle* out) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* tensor, borrow(self));
    return give(
        berth::shim::accumulate(*tensor, dim, dtype, "cumsum", 0,
                                [](auto sum, auto each) { return sum + each; }),
        out);
  });
}

std::int32_t aoti_berth_cpu_cumprod(AtenTensorHandle self, std::int64_t dim,
                                    std::int32_t* dtype,
                                    AtenTensorHandle* out) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* tensor, borrow(self));
    return give(
        berth::shim::accumulate(*tensor, dim, dtype, "cumprod", 1,
                                [](auto sum, auto each) { return sum * each; }),
        out);
  });
}

std::int32_t aoti_berth_cpu_cummax(AtenTensorHandle self, std::int64_t dim,
                                   AtenTensorHandle* values,
                                   AtenTensorHandle* indices) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* tensor, borrow(self));
    return berth::shim::give_both(
        berth::shim::running_extreme(*tensor, dim, "cummax",
                                     [](auto a, auto b) { return a >= b; }),
        values, indices);
  });
}

std::int32_t aoti_berth_cpu_cummin(AtenTensorHandle self, std::int64_t dim,
                                   AtenTensorHandle* values,
                                   AtenTensorHandle* indices) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* tensor, borrow(self));
    return berth::shim::give_both(
        berth::shim::running_extreme(*tensor, dim, "cummin",
                                     [](auto a, auto b) { return a <= b; }),
        values, indices);
  });
}

std::int32_t aoti_berth_cpu_logcumsumexp(AtenTensorHandle self,
                                         std::int64_t dim,
                                         AtenTensorHandle* out) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* tensor, borrow(self));
    return give(berth::shim::log_sum_exp(*tensor, dim), out);
  });
}
