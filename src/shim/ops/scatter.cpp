// Operators that write elements to places that a tensor names.
#include <algorithm>
#include <string_view>
#include <vector>

#include "shim/functions.h"
#include "shim/ops/arguments.h"
#include "shim/ops/element_type.h"
#include "shim/ops/lines.h"
#include "shim/trap.h"

using berth::Status;
using berth::Tensor;
using berth::shim::borrow;
using berth::shim::trap;

namespace berth::shim {
namespace {

using tensor::to_text;

enum class Reduce { kNone, kSum, kProduct, kMean, kLargest, kSmallest };

Result<Reduce> reduce_of(const char* name) {
  const std::string_view text(name == nullptr ? "" : name);
  if (text == "sum" || text == "add") return Reduce::kSum;
  if (text == "prod" || text == "multiply") return Reduce::kProduct;
  if (text == "mean") return Reduce::kMean;
  if (text == "amax") return Reduce::kLargest;
  if (text == "amin") return Reduce::kSmallest;
  return fail(Code::kInvalidArgument,
              "expected a reduction sum, prod, mean, amax or amin, found '",
              text, "'");
}

// Booleans add as "or" and multiply as "and".
template <typename T>
T reduced(Reduce how, T old, T value) noexcept {
  if (how == Reduce::kNone) return value;
  const auto a = widen(old);
  const auto b = widen(value);
  if (how == Reduce::kSum || how == Reduce::kMean) return narrow<T>(a + b);
  if (how == Reduce::kProduct) return narrow<T>(a * b);
  if (is_nan(a) || is_nan(b)) return is_nan(a) ? old : value;
  return how == Reduce::kLargest ? (a < b ? value : old)
                                 : (b < a ? value : old);
}

template <typename T>
Wide<T> divided(Wide<T> sum, std::int64_t count) noexcept {
  if constexpr (std::is_floating_point_v<Wide<T>>) {
    return sum / static_cast<Wide<T>>(count);
  } else if constexpr (std::is_same_v<T, bool>) {
    return sum && count != 0;
  } else {  // Towards minus infinity, as torch rounds the mean of integers.
    const auto by = static_cast<Wide<T>>(count);
    const auto whole = static_cast<Wide<T>>(sum / by);
    const bool below = sum < Wide<T>(0) && sum % by != Wide<T>(0);
    return static_cast<Wide<T>>(below ? whole - 1 : whole);
  }
}

// Where values come from: a tensor of the index's rank, or one number.
template <typename T>
struct Values {
  const Tensor* tensor;
  T number;
};

struct Scatter {
  const Tensor& out;
  const Tensor& index;
  std::size_t dim;
  Reduce reduce;
  bool include_self;
};

template <typename T>
Status scatter_line(const Scatter& scatter, Line<T> target,
                    Line<const std::int64_t> index, Line<const T> source,
                    std::vector<std::int64_t>& counts) {
  const bool counted = scatter.reduce == Reduce::kMean || !scatter.include_self;
  if (counted)
    counts.assign(static_cast<std::size_t>(target.size),
                  scatter.include_self ? 1 : 0);
  for (std::int64_t i = 0; i < index.size; ++i) {
    const std::int64_t at = index[i];
    if (at < 0 || at >= target.size)
      return fail(Code::kInvalidArgument, "index ", at,
                  " is out of the bounds of dimension ", scatter.dim,
                  " of size ", target.size);
    const bool fresh = counted && counts[static_cast<std::size_t>(at)]++ == 0;
    target[at] =
        fresh ? source[i] : reduced(scatter.reduce, target[at], source[i]);
  }
  if (scatter.reduce != Reduce::kMean) return ok();
  for (std::int64_t at = 0; at < target.size; ++at) {
    const std::int64_t count = counts[static_cast<std::size_t>(at)];
    if (count > 1) target[at] = narrow<T>(divided<T>(widen(target[at]), count));
  }
  return ok();
}

template <typename T>
Status scatter_as(const Scatter& scatter, const Values<T>& values) {
  const Tensor& source = values.tensor ? *values.tensor : scatter.index;
  // The index leads: the others may be larger.
  const Lines<3> lines({&scatter.index, &scatter.out, &source}, scatter.dim);
  std::vector<std::int64_t> counts;
  return lines.each([&](const auto& at) -> Status {
    const auto index = lines.template line<const std::int64_t>(0, at[0]);
    const auto target = lines.template line<T>(1, at[1]);
    Line<const T> from{&values.number, index.size, 0};
    if (values.tensor) from = lines.template line<const T>(2, at[2]);
    return scatter_line<T>(scatter, target, index, from, counts);
  });
}

Status check(const Tensor& self, std::size_t dim, const Tensor& index,
             const Tensor* source) {
  if (index.dtype() != DType::kInt64)
    return fail(Code::kInvalidArgument, "expected an index of int64, found ",
                to_string(index.dtype()));
  if (source != nullptr && source->dtype() != self.dtype())
    return fail(Code::kInvalidArgument, "expected a source of ",
                to_string(self.dtype()), ", found ",
                to_string(source->dtype()));
  if (index.numel() == 0) return ok();
  const auto sizes = index.sizes();
  const auto within = [&](const Tensor& other, bool but_dim) {
    if (std::max<std::int64_t>(other.dim(), 1) !=
        std::max<std::int64_t>(index.dim(), 1))
      return false;
    if (other.dim() == 0 || index.dim() == 0)
      return other.numel() >= index.numel() || but_dim;
    for (std::size_t d = 0; d < sizes.size(); ++d)
      if (!(but_dim && d == dim) && sizes[d] > other.sizes()[d]) return false;
    return true;
  };
  if (!within(self, true) || (source != nullptr && !within(*source, false)))
    return fail(Code::kInvalidArgument, "an index of sizes ", to_text(sizes),
                " does not fit a tensor of sizes ", to_text(self.sizes()),
                " and a source of sizes ",
                source ? to_text(source->sizes()) : "one number");
  return ok();
}

bool is_same_view(const Tensor& a, const Tensor& b) noexcept {
  return a.data() == b.data() && std::ranges::equal(a.sizes(), b.sizes()) &&
         std::ranges::equal(a.strides(), b.strides());
}

// `number` is used where there is no source.
Status scatter(Tensor& out, const Tensor& self, std::int64_t dim,
               const Tensor& index, const Tensor* source, double number,
               Reduce reduce, bool include_self) {
  BERTH_TRY(const std::size_t along, wrap_dim(dim, self.dim()));
  BERTH_CHECK(check(self, along, index, source));
  if (!is_same_view(out, self)) BERTH_CHECK(out.copy_from(self));
  if (index.numel() == 0) return ok();
  const Scatter how{out, index, along, reduce, include_self};
  return with_real_type(self.dtype(), "scatter", [&](auto type) {
    using T = typename decltype(type)::type;
    return scatter_as<T>(how, {source, narrow<T>(number)});
  });
}

Status scatter(AtenTensorHandle out, AtenTensorHandle self, std::int64_t dim,
               AtenTensorHandle index, AtenTensorHandle source, Reduce reduce,
               bool include_self) {
  BERTH_TRY(Tensor * to, borrow(out));
  BERTH_TRY(const Tensor* from, borrow(self));
  BERTH_TRY(const Tensor* places, borrow(index));
  BERTH_TRY(const Tensor* values, borrow(source));
  return scatter(*to, *from, dim, *places, values, 0, reduce, include_self);
}

}  // namespace
}  // namespace berth::shim

std::int32_t aoti_berth_cpu_scatter_src_out(AtenTensorHandle out,
                                            AtenTensorHandle self,
                                            std::int64_t dim,
                                            AtenTensorHandle index,
                                            AtenTensorHandle src) {
  return trap(__func__, [&] {
    return berth::shim::scatter(out, self, dim, index, src,
                                berth::shim::Reduce::kNone, true);
  });
}

std::int32_t aoti_berth_cpu_scatter_value_out(AtenTensorHandle out,
                                              AtenTensorHandle self,
                                              std::int64_t dim,
                                              AtenTensorHandle index,
                                              double value) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(Tensor * to, borrow(out));
    BERTH_TRY(const Tensor* from, borrow(self));
    BERTH_TRY(const Tensor* places, borrow(index));
    return berth::shim::scatter(*to, *from, dim, *places, nullptr, value,
                                berth::shim::Reduce::kNone, true);
  });
}

std::int32_t aoti_berth_cpu_scatter_reduce_two_out(
    AtenTensorHandle out, AtenTensorHandle self, std::int64_t dim,
    AtenTensorHandle index, AtenTensorHandle src, const char* reduce,
    std::int32_t include_self) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const berth::shim::Reduce how, berth::shim::reduce_of(reduce));
    return berth::shim::scatter(out, self, dim, index, src, how,
                                include_self != 0);
  });
}
