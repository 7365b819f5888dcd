// Operators that order the elements of each line: sort, topk and their kin.
#include <algorithm>
#include <vector>

#include "shim/functions.h"
#include "shim/ops/arguments.h"
#include "shim/ops/element_type.h"
#include "shim/ops/empty_like.h"
#include "shim/ops/lines.h"
#include "shim/ops/views.h"
#include "shim/trap.h"

using berth::Status;
using berth::Tensor;
using berth::shim::borrow;
using berth::shim::trap;

namespace berth::shim {
namespace {

template <typename T>
struct Ranked {
  T value;
  std::int64_t index;
};

// As in torch, NaN is larger than any number.
template <typename T>
bool ascends(const Ranked<T>& a, const Ranked<T>& b) noexcept {
  const auto x = widen(a.value);
  const auto y = widen(b.value);
  return (!is_nan(x) && is_nan(y)) || x < y;
}

template <typename T>
bool descends(const Ranked<T>& a, const Ranked<T>& b) noexcept {
  return ascends(b, a);
}

template <typename T>
void read(const Line<const T>& line, std::vector<Ranked<T>>& out) {
  out.clear();
  for (std::int64_t i = 0; i < line.size; ++i) out.push_back({line[i], i});
}

struct Ordered {
  Tensor values;
  Tensor indices;
};

// Calls order(ranked, compare, to write) for each line and writes the first of
// what it leaves; `out` has the sizes of self, but for `along`.
template <typename Order>
Status order_lines(const Tensor& self, std::size_t along, bool descending,
                   Ordered& out, const char* what, const Order& order) {
  const Lines<3> lines({&self, &out.values, &out.indices}, along);
  return with_real_type(self.dtype(), what, [&](auto type) {
    using T = typename decltype(type)::type;
    std::vector<Ranked<T>> ranked;
    return lines.each([&](const auto& offsets) -> Status {
      read(lines.template line<const T>(0, offsets[0]), ranked);
      order(ranked, descending ? descends<T> : ascends<T>);
      const auto value = lines.template line<T>(1, offsets[1]);
      const auto index = lines.template line<std::int64_t>(2, offsets[2]);
      for (std::int64_t i = 0; i < value.size; ++i) {
        value[i] = ranked[static_cast<std::size_t>(i)].value;
        index[i] = ranked[static_cast<std::size_t>(i)].index;
      }
      return ok();
    });
  });
}

Result<Ordered> sort(const Tensor& self, std::int64_t dim, bool descending) {
  BERTH_TRY(const std::size_t along, wrap_dim(dim, self.dim()));
  BERTH_TRY(Tensor values, empty_like(self, self.dtype()));
  BERTH_TRY(Tensor indices, empty_like(self, DType::kInt64));
  Ordered out{std::move(values), std::move(indices)};
  BERTH_CHECK(order_lines(
      self, along, descending, out, "sort", [](auto& ranked, auto* compare) {
        std::stable_sort(ranked.begin(), ranked.end(), compare);
      }));
  return out;
}

// Which of equal elements are taken, and their order, is what the standard
// library's algorithms make of it: those that torch uses, where it uses them.
template <typename Ranking, typename Compare>
void take_first(Ranking& ranked, std::int64_t count, bool sorted,
                Compare* compare) {
  if (count == 0) return;
  constexpr std::int64_t kFew = 64;
  const auto size = static_cast<std::int64_t>(ranked.size());
  const auto last = ranked.begin() + count;
  if (count <= size / kFew) {
    std::partial_sort(ranked.begin(), last, ranked.end(), compare);
    return;
  }
  std::nth_element(ranked.begin(), last - 1, ranked.end(), compare);
  if (sorted) std::sort(ranked.begin(), last - 1, compare);
}

Result<Ordered> top(const Tensor& self, std::int64_t k, std::int64_t dim,
                    bool largest, bool sorted) {
  BERTH_TRY(const std::size_t along, wrap_dim(dim, self.dim()));
  const std::int64_t size = self.dim() == 0 ? 1 : self.sizes()[along];
  if (k < 0 || k > size)
    return fail(Code::kInvalidArgument, "topk takes ", k, " of the ", size,
                " elements of dimension ", dim, " of ",
                tensor::to_text(self.sizes()));
  std::vector<std::int64_t> sizes(self.sizes().begin(), self.sizes().end());
  if (!sizes.empty()) sizes[along] = k;
  BERTH_TRY(Tensor values, Tensor::empty(sizes, self.dtype()));
  BERTH_TRY(Tensor indices, Tensor::empty(sizes, DType::kInt64));
  Ordered out{std::move(values), std::move(indices)};
  BERTH_CHECK(order_lines(self, along, largest, out, "topk",
                          [&](auto& ranked, auto* compare) {
                            take_first(ranked, k, sorted, compare);
                          }));
  return out;
}

Result<Ordered> kth(const Tensor& self, std::int64_t k, std::int64_t dim,
                    bool keep_dim) {
  BERTH_TRY(const std::size_t along, wrap_dim(dim, self.dim()));
  const std::int64_t size = self.dim() == 0 ? 1 : self.sizes()[along];
  if (k < 1 || k > size)
    return fail(Code::kInvalidArgument, "kthvalue takes the ", k,
                "th smallest of the ", size, " elements of dimension ", dim,
                " of ", tensor::to_text(self.sizes()));
  std::vector<std::int64_t> sizes(self.sizes().begin(), self.sizes().end());
  if (!sizes.empty()) sizes[along] = 1;
  BERTH_TRY(Tensor values, Tensor::empty(sizes, self.dtype()));
  BERTH_TRY(Tensor indices, Tensor::empty(sizes, DType::kInt64));
  Ordered out{std::move(values), std::move(indices)};
  BERTH_CHECK(order_lines(
      self, along, false, out, "kthvalue", [&](auto& ranked, auto* compare) {
        const auto at = ranked.begin() + (k - 1);
        std::nth_element(ranked.begin(), at, ranked.end(), compare);
        std::swap(*ranked.begin(), *at);
      }));
  if (keep_dim) return out;
  BERTH_TRY(out.values, squeeze(out.values, dim));
  BERTH_TRY(out.indices, squeeze(out.indices, dim));
  return out;
}

Status give_both(Result<Ordered>&& found, AtenTensorHandle* values,
                 AtenTensorHandle* indices) {
  BERTH_TRY(Ordered both, std::move(found));
  return give_all<2>({std::move(both.values), std::move(both.indices)},
                     {values, indices});
}

}  // namespace
}  // namespace berth::shim

std::int32_t aoti_berth_cpu_sort(AtenTensorHandle self, std::int64_t dim,
                                 std::int32_t descending,
                                 AtenTensorHandle* values,
                                 AtenTensorHandle* indices) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* tensor, borrow(self));
    return berth::shim::give_both(
        berth::shim::sort(*tensor, dim, descending != 0), values, indices);
  });
}

// Stable either way, as torch's is.
std::int32_t aoti_berth_cpu_sort_stable(AtenTensorHandle self, std::int32_t*,
                                        std::int64_t dim,
                                        std::int32_t descending,
                                        AtenTensorHandle* values,
                                        AtenTensorHandle* indices) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* tensor, borrow(self));
    return berth::shim::give_both(
        berth::shim::sort(*tensor, dim, descending != 0), values, indices);
  });
}

std::int32_t aoti_berth_cpu_topk(AtenTensorHandle self, std::int64_t k,
                                 std::int64_t dim, std::int32_t largest,
                                 std::int32_t sorted, AtenTensorHandle* values,
                                 AtenTensorHandle* indices) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* tensor, borrow(self));
    return berth::shim::give_both(
        berth::shim::top(*tensor, k, dim, largest != 0, sorted != 0), values,
        indices);
  });
}

std::int32_t aoti_berth_cpu_kthvalue(AtenTensorHandle self, std::int64_t k,
                                     std::int64_t dim, std::int32_t keepdim,
                                     AtenTensorHandle* values,
                                     AtenTensorHandle* indices) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* tensor, borrow(self));
    return berth::shim::give_both(
        berth::shim::kth(*tensor, k, dim, keepdim != 0), values, indices);
  });
}
