#include "model/input_rule.h"

#include <algorithm>
#include <numeric>

#include "tensor/layout.h"

namespace berth::model {
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
    if (is_fixed && __builtin_mul_overflow(
                        stride, std::max<std::int64_t>(size.least, 1), &stride))
      return false;
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
           std::ranges::prev_permutation(order).found);
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

bool InputRule::fits(const Tensor& input) const noexcept {
  if (!input.has_storage()) return false;
  if (!spec_.is_known) return true;
  if (input.dtype() != spec_.dtype || input.sizes().size() != dim())
    return false;
  for (std::size_t d = 0; d < dim(); ++d)
    if (!spec_.sizes[d].contains(input.sizes()[d])) return false;
  return fits_strides(input) && is_aligned(input);
}

bool InputRule::fits_strides(const Tensor& input) const noexcept {
  const auto strides = input.strides();
  if (order_.empty()) {
    // Those that vary are the library's own to compare.
    for (std::size_t d = 0; d < dim(); ++d)
      if (spec_.strides[d] != TensorSpec::kVaries &&
          spec_.strides[d] != strides[d])
        return false;
    return true;
  }
  std::int64_t stride = 1;
  for (const std::uint8_t d : order_) {
    const std::int64_t known = spec_.strides[d];
    if (strides[d] != (known == TensorSpec::kVaries ? stride : known))
      return false;
    stride *= std::max<std::int64_t>(input.sizes()[d], 1);
  }
  return true;
}

std::vector<std::int64_t> InputRule::strides_for(const Tensor& input) const {
  std::vector<std::int64_t> strides(input.strides().begin(),
                                    input.strides().end());
  std::int64_t stride = 1;
  for (const std::uint8_t d : order_) {
    strides[d] = stride;
    stride *= std::max<std::int64_t>(input.sizes()[d], 1);
  }
  for (std::size_t d = 0; d < dim(); ++d)
    if (spec_.strides[d] != TensorSpec::kVaries) strides[d] = spec_.strides[d];
  return strides;
}

Status InputRule::check(const Tensor& input) const {
  if (!input.has_storage())
    return fail(Code::kInvalidArgument, "expected a tensor, found none");
  if (!spec_.is_known) return ok();
  bool same = input.dtype() == spec_.dtype && input.sizes().size() == dim();
  for (std::size_t d = 0; same && d < dim(); ++d)
    same = spec_.sizes[d].contains(input.sizes()[d]);
  if (same) return ok();
  const std::string expected = spec_.to_string();
  return fail(Code::kInvalidArgument, "expected ", expected, ", found ",
              to_string(input.dtype()), " ", tensor::to_text(input.sizes()));
}

Result<Tensor> InputRule::fit(const Tensor& input) const {
  BERTH_CHECK(check(input));
  if (!spec_.is_known) return input;
  const auto strides = strides_for(input);
  // Only strides that are never walked differ: the same memory will do.
  bool same_walk = is_aligned(input);
  for (std::size_t d = 0; same_walk && d < dim(); ++d)
    same_walk = input.sizes()[d] == 1 || input.strides()[d] == strides[d];
  if (same_walk || (input.numel() == 0 && is_aligned(input)))
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
