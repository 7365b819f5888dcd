#include "operators/median.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "shim/ops/element_type.h"
#include "shim/ops/lines.h"
#include "shim/ops/views.h"
#include "tensor/layout.h"

namespace berth::operators {
namespace {

using shim::Line;

// Where the median of `line` is; `order` is room for its indices.
template <typename T>
std::int64_t median_of(const Line<const T>& line,
                       std::vector<std::int64_t>& order) {
  for (std::int64_t i = 0; i < line.size; ++i)
    if (shim::is_nan(shim::widen(line[i]))) return i;
  order.resize(static_cast<std::size_t>(line.size));
  std::iota(order.begin(), order.end(), 0);
  const auto middle = order.begin() + (line.size - 1) / 2;
  // Of equal elements the first, so that the result is always the same.
  std::nth_element(order.begin(), middle, order.end(),
                   [&](std::int64_t a, std::int64_t b) {
                     const auto x = shim::widen(line[a]);
                     const auto y = shim::widen(line[b]);
                     return x < y || (x == y && a < b);
                   });
  return *middle;
}

struct Median {
  Tensor values;
  Tensor indices;
};

// With a size of 1 in dimension `along`.
Result<Median> median_along(const Tensor& self, std::size_t along) {
  std::vector<std::int64_t> sizes(self.sizes().begin(), self.sizes().end());
  if (!sizes.empty()) {
    if (sizes[along] == 0)
      return fail(Code::kInvalidArgument, "dimension ", along, " of sizes ",
                  tensor::to_text(sizes), " has no median");
    sizes[along] = 1;
  }
  Median out;
  BERTH_TRY(out.values, Tensor::empty(sizes, self.dtype()));
  BERTH_TRY(out.indices, Tensor::empty(sizes, DType::kInt64));
  const shim::Lines<3> lines({&self, &out.values, &out.indices}, along);
  BERTH_CHECK(shim::with_real_type(self.dtype(), "median", [&](auto type) {
    using T = typename decltype(type)::type;
    std::vector<std::int64_t> order;
    return lines.each([&](const auto& offsets) -> Status {
      const auto line = lines.template line<const T>(0, offsets[0]);
      const std::int64_t at = median_of<T>(line, order);
      lines.template line<T>(1, offsets[1])[0] = line[at];
      lines.template line<std::int64_t>(2, offsets[2])[0] = at;
      return ok();
    });
  }));
  return out;
}

}  // namespace

Result<std::vector<Tensor>> median_of_dim(
    std::span<const OperatorArgument> arguments) {
  const auto& self = std::get<Tensor>(arguments[0]);
  const auto dim = std::get<std::int64_t>(arguments[1]);
  const bool* keep = std::get_if<bool>(&arguments[2]);
  BERTH_TRY(const std::size_t along, shim::wrap_dim(dim, self.dim()));
  BERTH_TRY(Median found, median_along(self, along));
  if (keep == nullptr || !*keep) {
    const auto at = static_cast<std::int64_t>(along);
    BERTH_TRY(found.values, shim::squeeze(found.values, at));
    BERTH_TRY(found.indices, shim::squeeze(found.indices, at));
  }
  return std::vector{std::move(found.values), std::move(found.indices)};
}

}  // namespace berth::operators
