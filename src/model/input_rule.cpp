#include "model/input_rule.h"

#include <algorithm>
#include <numeric>

namespace berth::model {

using tensor::Extents;

namespace {

// Beyond this, the orders to try would be too many.
constexpr std::size_t kMostOrdered = 6;

// True when a gapless tensor, whose dimensions lie in memory in this order, has
// the strides of `spec`: known ones where all sizes further in are fixed, and
// such that vary elsewhere. The stride of a dimension of size 1 is anything.
bool explains(const std::vector<std::uint8_t>& order, const TensorSpec& spec) {
  std::int64_t stride = 1;
  bool is_fixed = true;
  for (const std::uint8_t d : order) {
    const SizeRange& size = spec.sizes[d];
    const bool any = size.is_fixed() && size.least <= 1;
    const std::int64_t expected = is_fixed ? stride : TensorSpec::kVaries;
    if (!any && spec.strides[d] != expected) return false;
    if (!size.is_fixed()) is_fixed = false;
    stride = tensor::outer_stride(stride, size.least);
  }
  return true;
}

// Row-major first; then those that differ from it in the innermost dimensions,
// as channels-last does.
std::vector<std::uint8_t> order_of(const TensorSpec& spec) {
  std::vector<std::uint8_t> order(spec.sizes.size());
  std::iota(order.rbegin(), order.rend(), std::uint8_t{0});
  do {
    if (explains(order, spec)) return order;
  } while (order.size() <= kMostOrdered &&
           std::prev_permutation(order.begin(), order.end()));
  return {};
}

bool is_aligned(const Tensor& input) noexcept {
  // Complex numbers are pairs.
  const std::size_t element = element_size(input.dtype());
  const std::size_t alignment = std::min<std::size_t>(element, 8);
  return reinterpret_cast<std::uintptr_t>(input.data()) % alignment == 0;
}

}  // namespace

InputRule::InputRule(const TensorSpec& spec) : spec_(spec) {
  if (spec.is_known) order_ = order_of(spec);
}

bool InputRule::is_of_type(const Tensor& input) const noexcept {
  return input.dtype() == spec_.dtype &&
         std::ranges::equal(spec_.sizes, input.sizes(),
                            [](const SizeRange& range, std::int64_t size) {
                              return range.contains(size);
                            });
}

Extents InputRule::strides_for(const Tensor& input,
                               Strides& buffer) const noexcept {
  const Extents sizes = input.sizes();
  std::ranges::copy(input.strides(), buffer.begin());
  std::int64_t stride = 1;
  for (const std::uint8_t d : order_) {
    buffer[d] = stride;
    stride = tensor::outer_stride(stride, sizes[d]);
  }
  for (std::size_t d = 0; d < sizes.size(); ++d)
    if (spec_.strides[d] != TensorSpec::kVaries) buffer[d] = spec_.strides[d];
  return Extents(buffer).first(sizes.size());
}

bool InputRule::fits(const Tensor& input) const noexcept {
  if (!input.has_storage()) return false;
  if (!spec_.is_known) return true;
  Strides buffer;  // NOLINT: as much of it as is used is written
  return is_of_type(input) && is_aligned(input) &&
         std::ranges::equal(input.strides(), strides_for(input, buffer));
}

Result<Tensor> InputRule::fit(const Tensor& input) const {
  if (!input.has_storage())
    return fail(Code::kInvalidArgument, "expected a tensor, found none");
  if (!spec_.is_known) return input;
  if (!is_of_type(input))
    return fail(Code::kInvalidArgument, "expected ", spec_.to_string(),
                ", found ", to_string(input.dtype()), " ",
                tensor::to_text(input.sizes()));
  Strides buffer;  // NOLINT: as above
  const Extents strides = strides_for(input, buffer);
  // Only strides that are never walked differ: the same memory will do.
  bool same_walk = true;
  for (std::size_t d = 0; same_walk && d < strides.size(); ++d)
    same_walk = input.sizes()[d] == 1 || input.strides()[d] == strides[d];
  if (is_aligned(input) && (same_walk || input.numel() == 0))
    return input.view(input.sizes(), strides, input.storage_offset());
  BERTH_TRY(const auto covered, tensor::measure(input.sizes(), strides, 0));
  if (covered.end < covered.numel)
    return fail(Code::kInvalidArgument, "expected ", spec_.to_string(),
                " with strides ", tensor::to_text(strides),
                ", on which elements share memory, found strides ",
                tensor::to_text(input.strides()));
  BERTH_TRY(Tensor copy,
            Tensor::empty_strided(input.sizes(), strides, input.dtype()));
  BERTH_CHECK(copy.copy_from(input));
  return copy;
}

}  // namespace berth::model
