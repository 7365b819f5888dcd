// Operators that pick elements: nonzero, masked_select, indexing by tensors.
#include <cstring>
#include <vector>

#include "shim/functions.h"
#include "shim/ops/arguments.h"
#include "shim/ops/element_type.h"
#include "shim/ops/expand.h"
#include "shim/ops/lines.h"
#include "shim/trap.h"

using berth::DType;
using berth::Status;
using berth::Tensor;
using berth::shim::borrow;
using berth::shim::give;
using berth::shim::trap;

namespace berth::shim {
namespace {

using tensor::Extents;
using tensor::to_text;

// Calls found(position in row-major order, indices) for each that is not zero.
template <typename Found>
Status each_nonzero(const Tensor& self, const Found& found) {
  const std::size_t last =
      self.dim() == 0 ? 0 : static_cast<std::size_t>(self.dim() - 1);
  const Lines<1> lines({&self}, last);
  return with_real_type(self.dtype(), "nonzero", [&](auto type) {
    using T = typename decltype(type)::type;
    std::int64_t row = 0;
    return lines.each([&](const auto& offsets) -> Status {
      const auto line = lines.template line<const T>(0, offsets[0]);
      for (std::int64_t i = 0; i < line.size; ++i)
        if (widen(line[i]) != Wide<T>(0)) found(row * line.size + i);
      ++row;
      return ok();
    });
  });
}

// A row for each position, then rows of `fill`. `strides` are of the table.
Result<Tensor> indices_table(Extents sizes,
                             const std::vector<std::int64_t>& positions,
                             std::int64_t rows, Extents strides,
                             std::int64_t fill) {
  const auto dims = static_cast<std::int64_t>(sizes.size());
  BERTH_TRY(Tensor out,
            Tensor::empty_strided({{rows, dims}}, strides, DType::kInt64));
  auto* to = static_cast<std::int64_t*>(out.data());
  for (std::int64_t row = 0; row < rows; ++row) {
    const bool is_found = row < static_cast<std::int64_t>(positions.size());
    std::int64_t rest = is_found ? positions[static_cast<std::size_t>(row)] : 0;
    for (std::int64_t d = dims; d-- > 0;) {
      const std::int64_t size = sizes[static_cast<std::size_t>(d)];
      to[row * strides[0] + d * strides[1]] = is_found ? rest % size : fill;
      if (is_found) rest /= size;
    }
  }
  return out;
}

Result<Tensor> nonzero(const Tensor& self) {
  std::vector<std::int64_t> positions;
  BERTH_CHECK(each_nonzero(self, [&](auto at) { positions.push_back(at); }));
  // Torch stores the table by columns.
  const auto rows = static_cast<std::int64_t>(positions.size());
  return indices_table(self.sizes(), positions, rows, {{1, rows}}, 0);
}

Result<Tensor> nonzero_static(const Tensor& self, std::int64_t size,
                              std::int64_t fill) {
  if (size < 0)
    return fail(Code::kInvalidArgument, "nonzero_static gives ", size,
                " rows, expected 0 or more");
  std::vector<std::int64_t> positions;
  BERTH_CHECK(each_nonzero(self, [&](auto at) {
    if (static_cast<std::int64_t>(positions.size()) < size)
      positions.push_back(at);
  }));
  return indices_table(self.sizes(), positions, size, {{self.dim(), 1}}, fill);
}

Result<Tensor> masked_select(const Tensor& self, const Tensor& mask) {
  if (mask.dtype() != DType::kBool && mask.dtype() != DType::kUInt8)
    return fail(Code::kInvalidArgument, "expected a mask of bool, found ",
                to_string(mask.dtype()));
  BERTH_TRY(const Sizes sizes, broadcast_sizes(self.sizes(), mask.sizes()));
  BERTH_TRY(const Tensor values, expand(self, sizes));
  BERTH_TRY(const Tensor chosen, expand(mask, sizes));
  // Row by row, as strides of zero cannot be turned into positions.
  const std::size_t last = sizes.empty() ? 0 : sizes.size() - 1;
  const Lines<2> lines({&values, &chosen}, last);
  std::int64_t count = 0;
  BERTH_CHECK(lines.each([&](const auto& at) -> Status {
    const auto line = lines.template line<const std::uint8_t>(1, at[1]);
    for (std::int64_t i = 0; i < line.size; ++i) count += line[i] != 0;
    return ok();
  }));
  BERTH_TRY(Tensor out, Tensor::empty({{count}}, self.dtype()));
  const std::size_t bytes = element_size(self.dtype());
  auto* to = static_cast<std::byte*>(out.data());
  const auto* from = static_cast<const std::byte*>(values.data());
  BERTH_CHECK(lines.each([&](const auto& at) -> Status {
    const auto line = lines.template line<const std::uint8_t>(1, at[1]);
    const std::int64_t step = sizes.empty() ? 0 : values.strides()[last];
    for (std::int64_t i = 0; i < line.size; ++i) {
      if (line[i] == 0) continue;
      std::memcpy(to, from + (at[0] + i * step) * std::int64_t(bytes), bytes);
      to += bytes;
    }
    return ok();
  }));
  return out;
}

}  // namespace
}  // namespace berth::shim

std::int32_t aoti_berth_cpu_nonzero(AtenTensorHandle self,
                                    AtenTensorHandle* out) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* tensor, borrow(self));
    return give(berth::shim::nonzero(*tensor), out);
  });
}

std::int32_t aoti_berth_cpu_nonzero_static(AtenTensorHandle self,
                                           std::int64_t size,
                                           std::int64_t fill_value,
                                           AtenTensorHandle* out) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* tensor, borrow(self));
    return give(berth::shim::nonzero_static(*tensor, size, fill_value), out);
  });
}

std::int32_t aoti_berth_cpu_masked_select(AtenTensorHandle self,
                                          AtenTensorHandle mask,
                                          AtenTensorHandle* out) {
  return trap(__func__, [&]() -> Status {
    BERTH_TRY(const Tensor* tensor, borrow(self));
    BERTH_TRY(const Tensor* chosen, borrow(mask));
    return give(berth::shim::masked_select(*tensor, *chosen), out);
  });
}
