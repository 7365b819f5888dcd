// Operators that find the place of values among ordered bounds.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>

#include "shim/functions.h"
#include "shim/ops/arguments.h"
#include "shim/ops/cast.h"
#include "shim/ops/element_type.h"
#include "shim/ops/lines.h"
#include "shim/trap.h"

using berth::Code;
using berth::DType;
using berth::fail;
using berth::ok;
using berth::Result;
using berth::Status;
using berth::Tensor;
using berth::shim::borrow;
using berth::shim::give;
using berth::shim::trap;

namespace berth::shim {
namespace {

using tensor::to_text;

struct Search {
  const Tensor& bounds;  // Ascending along the last dimension.
  const Tensor* order;   // Or ascending when read in this order.
  bool right;            // After equal bounds, not before them.
};

// How many bounds come before `value`. As in torch, a NaN comes after all.
template <typename T>
std::int64_t place(const Line<const T>& bounds,
                   const Line<const std::int64_t>* order, T value, bool right) {
  std::int64_t begin = 0;
  std::int64_t end = bounds.size;
  while (begin < end) {
    const std::int64_t middle = begin + (end - begin) / 2;
    const auto bound = widen(bounds[order ? (*order)[middle] : middle]);
    const bool goes_before =
        right ? bound > widen(value) : bound >= widen(value);
    if (goes_before) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin;
}

Status check(const Search& search, const Tensor& values) {
  const auto bounds = search.bounds.sizes();
  const auto sizes = values.sizes();
  const bool fits =
      bounds.size() == 1 ||
      (!bounds.empty() && sizes.size() == bounds.size() &&
       std::equal(bounds.begin(), bounds.end() - 1, sizes.begin()));
  if (!fits)
    return fail(Code::kInvalidArgument, "bounds of sizes ", to_text(bounds),
                " cannot be searched for values of sizes ", to_text(sizes));
  if (search.order == nullptr) return ok();
  if (search.order->dtype() != DType::kInt64 ||
      !std::ranges::equal(search.order->sizes(), bounds))
    return fail(Code::kInvalidArgument, "expected a sorter of int64 ",
                to_text(bounds), ", found ", to_string(search.order->dtype()),
                " ", to_text(search.order->sizes()));
  const Lines<1> lines({search.order}, bounds.size() - 1);
  return lines.each([&](const auto& offsets) -> Status {
    const auto line = lines.template line<const std::int64_t>(0, offsets[0]);
    for (std::int64_t i = 0; i < line.size; ++i)
      if (line[i] < 0 || line[i] >= line.size)
        return fail(Code::kInvalidArgument, "the sorter has ", line[i],
                    ", expected 0 to ", line.size - 1);
    return ok();
  });
}

template <typename T, typename Out>
Status search_as(const Search& search, const Tensor& values,
                 const Tensor& out) {
  const std::size_t last =
      values.dim() == 0 ? 0 : static_cast<std::size_t>(values.dim() - 1);
  const Tensor& bounds = search.bounds;
  const Tensor& order = search.order ? *search.order : bounds;
  const auto find = [&](const auto& lines, const auto& offsets,
                        std::int64_t bound_at, std::int64_t order_at) {
    const std::int64_t size = bounds.sizes().back();
    const Line<const T> edges{static_cast<const T*>(bounds.data()) + bound_at,
                              size, bounds.strides().back()};
    Line<const std::int64_t> sorter{nullptr, size, order.strides().back()};
    if (search.order)
      sorter.data = static_cast<const std::int64_t*>(order.data()) + order_at;
    const auto value = lines.template line<const T>(0, offsets[0]);
    const auto found = lines.template line<Out>(1, offsets[1]);
    for (std::int64_t i = 0; i < value.size; ++i)
      found[i] = static_cast<Out>(place(edges, search.order ? &sorter : nullptr,
                                        value[i], search.right));
    return ok();
  };
  if (bounds.dim() == 1) {
    const Lines<2> lines({&values, &out}, last);
    return lines.each([&](const auto& at) { return find(lines, at, 0, 0); });
  }
  const Lines<4> lines({&values, &out, &bounds, &order}, last);
  return lines.each(
      [&](const auto& at) { return find(lines, at, at[2], at[3]); });
}

// Both in a type that holds either: torch asks for equal ones, but for numbers.
Result<DType> common_dtype(const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype()) return a.dtype();
  const bool whole = is_integral(a.dtype()) && is_integral(b.dtype());
  return whole ? DType::kInt64 : DType::kFloat64;
}

Result<Tensor> search(const Tensor& bounds, const Tensor& values,
                      const Tensor* order, bool right, bool out_int32) {
  BERTH_CHECK(check({bounds, order, right}, values));
  BERTH_TRY(const DType dtype, common_dtype(bounds, values));
  BERTH_TRY(const Tensor edges, cast(bounds, dtype));
  BERTH_TRY(const Tensor sought, cast(values, dtype));
  const DType kind = out_int32 ? DType::kInt32 : DType::kInt64;
  if (out_int32 &&
      edges.sizes().back() >= std::numeric_limits<std::int32_t>::max())
    return fail(Code::kInvalidArgument, "places among ", edges.sizes().back(),
                " bounds do not fit int32");
  BERTH_TRY(Tensor out, Tensor::empty(sought.sizes(), kind));
  const Search how{edges, order, right};
  BERTH_CHECK(with_real_type(dtype, "searchsorted", [&](auto type) {
    using T = typename decltype(type)::type;
    return out_int32 ? search_as<T, std::int32_t>(how, sought, out)
                     : search_as<T, std::int64_t>(how, sought, out);
  }));
  return out;
}

Result<bool> goes_right(std::int32_t right, const char* const* side) {
  if (side == nullptr || *side == nullptr) return right != 0;
  const std::string_view name(*side);
  if (name != "left" && name != "right")
    return fail(Code::kInvalidArgument,
                "expected a side of 'left' or 'right', found '", name, "'");
  if (right != 0 && name == "left")
    return fail(Code::kInvalidArgument,
                "right is true, and side is 'left': they contradict");
  return name == "right";
}

template <typename T>
Status count_in_bins(const Tensor& self, const Tensor& out, double low,
                     double high) {
  const auto bins = out.numel();
  auto* counts = static_cast<T*>(out.data());
  std::fill_n(counts, bins, T(0));
  const T from = static_cast<T>(low);
  const T to = static_cast<T>(high);
  const Lines<1> lines({&self}, self.dim() == 0 ? 0 : self.dim() - 1);
  return lines.each([&](const auto& offsets) -> Status {
    const auto line = lines.template line<const T>(0, offsets[0]);
    for (std::int64_t i = 0; i < line.size; ++i) {
      const T value = line[i];
      if (!(value >= from && value <= to)) continue;
      const auto at = static_cast<std::int64_t>(
          (value - from) * static_cast<T>(bins) / (to - from));
      counts[std::min(at, bins - 1)] += T(1);
    }
    return ok();
  });
}

// The least and the greatest, each NaN if there is one.
std::pair<double, double> extremes(const Tensor& self) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  const Lines<1> lines({&self}, self.dim() == 0 ? 0 : self.dim() - 1);
  (void)with_real_type(self.dtype(), "histc", [&](auto type) {
    using T = typename decltype(type)::type;
    return lines.each([&](const auto& offsets) -> Status {
      const auto line = lines.template line<const T>(0, offsets[0]);
      for (std::int64_t i = 0; i < line.size; ++i) {
        const auto value = static_cast<double>(widen(line[i]));
        low = std::isnan(value) ? value : std::min(value, low);
        high = std::isnan(value) ? value : std::max(value, high);
      }
      return ok();
    });
  });
  return {low, high};
}

Result<Tensor> histogram(const Tensor& self, std::int64_t bins, double low,
                         double high) {
  const bool is_float = self.dtype() == DType::kFloat32;
  if (!is_float && self.dtype() != DType::kFloat64)
    return fail(Code::kUnsupported, "histc of ", to_string(self.dtype()),
                " is not served");
  if (bins < 1)
    return fail(Code::kInvalidArgument, "histc needs at least 1 bin, found ",
                bins);
  if (low == high && self.numel() > 0) std::tie(low, high) = extremes(self);
  if (low == high) {
    low -= 1;
    high += 1;
  }
  if (!(low < high) || std::isinf(low) || std::isinf(high))
    return fail(Code::kInvalidArgument, "histc cannot count from ", low, " to ",
                high);
  BERTH_TRY(Tensor out, Tensor::empty({{bins}}, self.dtype()));
  BERTH_CHECK(is_float ? count_in_bins<float>(self, out, low, high)
                       : count_in_bins<double>(self, out, low, high));
  return out;
}

}  // namespace
}  // namespace berth::shim

std::int32_t aoti_berth_cpu_searchsorted_Tensor(
    AtenTensorHandle sorted_sequence, AtenTensorHandle self,
    std::int32_t out_int32, std::int32_t right, const char** side,
    AtenTensorHandle* sorter, AtenTensorHandle* out) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* bounds, borrow(sorted_sequence));
    BERTH_TRY(const Tensor* values, borrow(self));
    BERTH_TRY(const Tensor* order, berth::shim::borrow_optional(sorter));
    BERTH_TRY(const bool after, berth::shim::goes_right(right, side));
    return give(
        berth::shim::search(*bounds, *values, order, after, out_int32 != 0),
        out);
  });
}

std::int32_t aoti_berth_cpu_searchsorted_Scalar(
    AtenTensorHandle sorted_sequence, double self, std::int32_t out_int32,
    std::int32_t right, const char** side, AtenTensorHandle* sorter,
    AtenTensorHandle* out) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* bounds, borrow(sorted_sequence));
    BERTH_TRY(const Tensor* order, berth::shim::borrow_optional(sorter));
    BERTH_TRY(const bool after, berth::shim::goes_right(right, side));
    BERTH_TRY(const Tensor value,
              Tensor::borrow(&self, sizeof self, {}, {}, DType::kFloat64));
    return give(
        berth::shim::search(*bounds, value, order, after, out_int32 != 0), out);
  });
}

std::int32_t aoti_berth_cpu_bucketize_Tensor(AtenTensorHandle self,
                                             AtenTensorHandle boundaries,
                                             std::int32_t out_int32,
                                             std::int32_t right,
                                             AtenTensorHandle* out) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* values, borrow(self));
    BERTH_TRY(const Tensor* bounds, borrow(boundaries));
    if (bounds->dim() != 1)
      return fail(Code::kInvalidArgument,
                  "expected boundaries of one dimension, found ",
                  berth::tensor::to_text(bounds->sizes()));
    return give(berth::shim::search(*bounds, *values, nullptr, right != 0,
                                    out_int32 != 0),
                out);
  });
}

std::int32_t aoti_berth_cpu_histc(AtenTensorHandle self, std::int64_t bins,
                                  double min, double max,
                                  AtenTensorHandle* out) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* tensor, borrow(self));
    return give(berth::shim::histogram(*tensor, bins, min, max), out);
  });
}
