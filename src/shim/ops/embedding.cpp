// Sums, means and maxima of bags of rows of a table.
#include <algorithm>
#include <vector>

#include "shim/functions.h"
#include "shim/ops/arguments.h"
#include "shim/ops/cast.h"
#include "shim/ops/element_type.h"
#include "shim/trap.h"
#include "tensor/layout.h"

using berth::Status;
using berth::Tensor;
using berth::shim::borrow;
using berth::shim::trap;

namespace berth::shim {
namespace {

using tensor::to_text;

// Values are torch's.
enum class BagMode : std::int64_t { kSum = 0, kMean = 1, kMax = 2 };

struct Bags {
  Tensor table;    // Rows to choose from.
  Tensor indices;  // int64, row-major.
  Tensor weights;  // Of the table's dtype and one for each index; or empty.
  std::vector<std::int64_t> ends;  // Bag i is from ends[i] to ends[i + 1].
  BagMode mode;
  std::int64_t padding;  // The row that does not count, or a negative number.
};

// What the functions return. All but `out` are for the backward pass.
struct BagResults {
  Tensor out;
  Tensor bag_of_index;
  Tensor counts;
  Tensor largest;  // For kMax: which row each element is of.
};

Status check_table(const Tensor& table, const Tensor& indices,
                   const Tensor& offsets, const Tensor* weights) {
  const auto is_index = [](const Tensor& tensor) {
    return tensor.dim() == 1 &&
           (tensor.dtype() == DType::kInt32 || tensor.dtype() == DType::kInt64);
  };
  if (table.dim() != 2 || is_integral(table.dtype()))
    return fail(Code::kInvalidArgument,
                "expected a table of floats of two dimensions, found ",
                to_string(table.dtype()), " ", to_text(table.sizes()));
  if (!is_index(indices) || !is_index(offsets))
    return fail(Code::kInvalidArgument,
                "expected indices and offsets of int32 or int64 of one "
                "dimension, found ",
                to_string(indices.dtype()), " ", to_text(indices.sizes()),
                " and ", to_string(offsets.dtype()), " ",
                to_text(offsets.sizes()));
  if (weights != nullptr &&
      (weights->dtype() != table.dtype() ||
       !std::ranges::equal(weights->sizes(), indices.sizes())))
    return fail(Code::kInvalidArgument, "expected weights of ",
                to_string(table.dtype()), " ", to_text(indices.sizes()),
                ", found ", to_string(weights->dtype()), " ",
                to_text(weights->sizes()));
  return ok();
}

Result<std::vector<std::int64_t>> bag_ends(const Tensor& offsets,
                                           std::int64_t indices,
                                           bool include_last) {
  BERTH_TRY(const Tensor whole, cast(offsets, DType::kInt64));
  std::vector<std::int64_t> ends;
  for (std::int64_t i = 0; i < whole.numel(); ++i)
    ends.push_back(
        static_cast<const std::int64_t*>(whole.data())[i * whole.strides()[0]]);
  if (include_last && ends.empty())
    return fail(Code::kInvalidArgument,
                "expected an offset of the last bag's end, found none");
  if (!include_last) ends.push_back(indices);
  if (ends.size() > 1 ? ends.front() != 0 : include_last && ends.back() > 0)
    return fail(Code::kInvalidArgument, "expected a first offset of 0, found ",
                ends.front());
  if (!std::ranges::is_sorted(ends) || ends.back() > indices)
    return fail(Code::kInvalidArgument, "offsets ", to_text(ends),
                " are not those of bags of ", indices, " indices");
  return ends;
}

Status check_indices(const Bags& bags) {
  const auto rows = bags.table.sizes()[0];
  const auto* indices = static_cast<const std::int64_t*>(bags.indices.data());
  for (std::int64_t i = 0; i < bags.indices.numel(); ++i)
    if (indices[i] < 0 || indices[i] >= rows)
      return fail(Code::kInvalidArgument, "index ", indices[i], " at ", i,
                  " is not one of the table's ", rows, " rows");
  return ok();
}

template <typename T>
void fill_bag(const Bags& bags, std::size_t bag, BagResults& results,
              std::vector<Wide<T>>& sum) {
  const auto cols = bags.table.sizes()[1];
  const auto row_step = bags.table.strides()[0];
  const auto col_step = bags.table.strides()[1];
  const auto* table = static_cast<const T*>(bags.table.data());
  const auto* indices = static_cast<const std::int64_t*>(bags.indices.data());
  const auto* weights = bags.weights.has_storage()
                            ? static_cast<const T*>(bags.weights.data())
                            : nullptr;
  const bool is_max = bags.mode == BagMode::kMax;
  const auto at = static_cast<std::int64_t>(bag);
  auto* chosen =
      is_max ? static_cast<std::int64_t*>(results.largest.data()) + at * cols
             : nullptr;
  std::fill(sum.begin(), sum.end(), Wide<T>(0));
  if (is_max) std::fill_n(chosen, cols, 0);
  std::int64_t count = 0;
  for (std::int64_t i = bags.ends[bag]; i < bags.ends[bag + 1]; ++i) {
    if (indices[i] == bags.padding) continue;
    const T* row = table + indices[i] * row_step;
    const Wide<T> weight = weights ? widen(weights[i]) : Wide<T>(1);
    for (std::int64_t j = 0; j < cols; ++j) {
      const auto value = widen(row[j * col_step]);
      auto& kept = sum[static_cast<std::size_t>(j)];
      if (!is_max) {
        kept += value * weight;
      } else if (count == 0 || value > kept) {
        kept = value;
        chosen[j] = indices[i];
      }
    }
    ++count;
  }
  if (bags.mode == BagMode::kMean && count > 0)
    for (auto& each : sum) each /= static_cast<Wide<T>>(count);
  auto* out = static_cast<T*>(results.out.data()) + at * cols;
  for (std::int64_t j = 0; j < cols; ++j)
    out[j] = narrow<T>(sum[static_cast<std::size_t>(j)]);
  if (bags.mode != BagMode::kSum)
    static_cast<std::int64_t*>(results.counts.data())[bag] = count;
}

// Sizes as torch has them.
Result<BagResults> results_of(const Bags& bags, std::int64_t offsets) {
  const auto count = static_cast<std::int64_t>(bags.ends.size()) - 1;
  const auto cols = bags.table.sizes()[1];
  const bool is_sum = bags.mode == BagMode::kSum;
  const bool is_max = bags.mode == BagMode::kMax;
  const std::int64_t mapped =
      is_sum && bags.padding < 0 ? 0 : bags.indices.numel();
  const std::int64_t sized = is_sum ? offsets : count;
  BERTH_TRY(Tensor out, Tensor::empty({{count, cols}}, bags.table.dtype()));
  BERTH_TRY(Tensor bag_of, Tensor::empty({{mapped}}, DType::kInt64));
  BERTH_TRY(Tensor counts, Tensor::empty({{sized}}, DType::kInt64));
  const std::int64_t wide[] = {count, cols};
  BERTH_TRY(Tensor largest, Tensor::empty(is_max ? tensor::Extents(wide)
                                                 : tensor::Extents(&sized, 1),
                                          DType::kInt64));
  std::fill_n(static_cast<std::int64_t*>(counts.data()), sized, 0);
  if (mapped != 0) {
    auto* bag = static_cast<std::int64_t*>(bag_of.data());
    for (std::size_t i = 0; i + 1 < bags.ends.size(); ++i)
      std::fill(bag + bags.ends[i], bag + bags.ends[i + 1],
                static_cast<std::int64_t>(i));
    // What follows the last bag is in none; torch counts on.
    std::fill(bag + bags.ends.back(), bag + mapped, count);
  }
  return BagResults{std::move(out), std::move(bag_of), std::move(counts),
                    std::move(largest)};
}

Result<BagResults> embedding_bag(const Bags& bags, std::int64_t offsets) {
  BERTH_CHECK(check_indices(bags));
  BERTH_TRY(BagResults results, results_of(bags, offsets));
  BERTH_CHECK(with_float_type(bags.table.dtype(), "embedding_bag", [&](auto t) {
    using T = typename decltype(t)::type;
    std::vector<Wide<T>> sum(static_cast<std::size_t>(bags.table.sizes()[1]));
    for (std::size_t bag = 0; bag + 1 < bags.ends.size(); ++bag)
      fill_bag<T>(bags, bag, results, sum);
    return ok();
  }));
  if (bags.mode == BagMode::kMean)
    BERTH_CHECK(results.largest.copy_from(results.counts));
  else if (bags.mode == BagMode::kSum)
    std::fill_n(static_cast<std::int64_t*>(results.largest.data()), offsets, 0);
  return results;
}

Result<BagResults> embedding_bag(const Tensor& table, const Tensor& indices,
                                 const Tensor& offsets, std::int64_t mode,
                                 const Tensor* weights, bool include_last,
                                 std::int64_t padding) {
  BERTH_CHECK(check_table(table, indices, offsets, weights));
  const auto how = static_cast<BagMode>(mode);
  if (mode < 0 || mode > 2 || (weights && how != BagMode::kSum))
    return fail(Code::kInvalidArgument, "a bag of mode ", mode,
                weights ? " with weights" : "",
                " is not known: expected 0 (sum), 1 (mean) or 2 (max), and "
                "weights with 0 only");
  const auto rows = table.sizes()[0];
  if (padding >= rows || padding < -rows - (rows == 0))
    return fail(Code::kInvalidArgument, "the padding index ", padding,
                " is not one of the table's ", rows, " rows");
  BERTH_TRY(const Tensor whole, cast(indices, DType::kInt64));
  BERTH_TRY(Tensor packed_indices, whole.clone());
  Tensor packed_weights;
  if (weights) {
    BERTH_TRY(packed_weights, weights->clone());
  }
  BERTH_TRY(auto ends, bag_ends(offsets, indices.numel(), include_last));
  return embedding_bag(
      {table, std::move(packed_indices), std::move(packed_weights),
       std::move(ends), how, padding},
      offsets.numel());
}

Status call(AtenTensorHandle weight, AtenTensorHandle indices,
            AtenTensorHandle offsets, std::int64_t mode,
            const AtenTensorHandle* per_sample_weights,
            std::int32_t include_last_offset, std::int64_t padding_idx,
            AtenTensorHandle* out, AtenTensorHandle* bag_of_index,
            AtenTensorHandle* counts, AtenTensorHandle* largest) {
  BERTH_TRY(const Tensor* table, borrow(weight));
  BERTH_TRY(const Tensor* rows, borrow(indices));
  BERTH_TRY(const Tensor* starts, borrow(offsets));
  BERTH_TRY(const Tensor* weights, borrow_optional(per_sample_weights));
  BERTH_TRY(BagResults results,
            embedding_bag(*table, *rows, *starts, mode, weights,
                          include_last_offset != 0, padding_idx));
  return give_all<4>({std::move(results.out), std::move(results.bag_of_index),
                      std::move(results.counts), std::move(results.largest)},
                     {out, bag_of_index, counts, largest});
}

}  // namespace
}  // namespace berth::shim

std::int32_t aoti_berth_cpu__embedding_bag(
    AtenTensorHandle weight, AtenTensorHandle indices, AtenTensorHandle offsets,
    std::int32_t, std::int64_t mode, std::int32_t,
    AtenTensorHandle* per_sample_weights, std::int32_t include_last_offset,
    std::int64_t padding_idx, AtenTensorHandle* out,
    AtenTensorHandle* bag_of_index, AtenTensorHandle* counts,
    AtenTensorHandle* largest) {
  return trap(__func__, [&] {
    return berth::shim::call(weight, indices, offsets, mode, per_sample_weights,
                             include_last_offset, padding_idx, out,
                             bag_of_index, counts, largest);
  });
}

std::int32_t aoti_berth_cpu__embedding_bag_forward_only(
    AtenTensorHandle weight, AtenTensorHandle indices, AtenTensorHandle offsets,
    std::int32_t, std::int64_t mode, std::int32_t,
    AtenTensorHandle* per_sample_weights, std::int32_t include_last_offset,
    std::int64_t padding_idx, AtenTensorHandle* out,
    AtenTensorHandle* bag_of_index, AtenTensorHandle* counts,
    AtenTensorHandle* largest) {
  return trap(__func__, [&] {
    return berth::shim::call(weight, indices, offsets, mode, per_sample_weights,
                             include_last_offset, padding_idx, out,
                             bag_of_index, counts, largest);
  });
}
