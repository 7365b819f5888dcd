#include "shim/ops/product.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "shim/ops/scratch.h"
#include "shim/ops/sgemm.h"
#include "shim/ops/widen.h"

namespace berth::shim {
namespace {

using tensor::BFloat16;
using tensor::Half;

// What T is summed in. Integers: unsigned, because there wrapping around is
// defined, and at least 32 bits, because narrower ones become int in C++.
template <typename T>
using Sum = std::conditional_t<
    std::is_floating_point_v<T>, T,
    std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>;

// A factor in the type of the sums. Negative integers wrap.
template <typename T>
Sum<T> factor(double value) noexcept {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(value);
  else
    return static_cast<Sum<T>>(static_cast<std::int64_t>(value));
}

template <typename T>
bool same_place(const Matrix<const T>& self, const Matrix<T>& out) noexcept {
  return self.data == out.data && self.row_step == out.row_step &&
         self.col_step == out.col_step;
}

// out = beta * self, the ground on which products are added.
template <typename T>
void lay(double beta, const Matrix<const T>& self, const Matrix<T>& out) {
  if (beta == 1 && same_place(self, out)) return;
  const Sum<T> weight = factor<T>(beta);
  for (std::int64_t i = 0; i < out.rows; ++i) {
    T* to = &out.at(i, 0);
    if (beta == 0) {
      std::fill_n(to, out.cols, T{0});
      continue;
    }
    const T* from = &self.at(i, 0);
    if (beta == 1 && self.col_step == 1) {
      std::copy_n(from, out.cols, to);
    } else {
      for (std::int64_t j = 0; j < out.cols; ++j)
        to[j] = static_cast<T>(weight *
                               static_cast<Sum<T>>(from[j * self.col_step]));
    }
  }
}

constexpr std::int64_t kBlockRows = 128;
constexpr std::int64_t kBlockCols = 256;

// A block of b is packed once and stays in the cache for all rows of a.
template <typename T>
Status multiply_plainly(const Product<T>& p) {
  if (p.out.rows == 0 || p.out.cols == 0) return ok();
  lay(p.beta, p.self, p.out);
  BERTH_TRY(const Scratch<T> scratch, Scratch<T>::of(kBlockRows * kBlockCols));
  T* const block = scratch.data();
  const Sum<T> alpha = factor<T>(p.alpha);
  for (std::int64_t j0 = 0; j0 < p.out.cols; j0 += kBlockCols) {
    const std::int64_t cols = std::min(kBlockCols, p.out.cols - j0);
    for (std::int64_t k0 = 0; k0 < p.a.cols; k0 += kBlockRows) {
      const std::int64_t depth = std::min(kBlockRows, p.a.cols - k0);
      for (std::int64_t k = 0; k < depth; ++k)
        for (std::int64_t j = 0; j < cols; ++j)
          block[k * cols + j] = p.b.at(k0 + k, j0 + j);
      for (std::int64_t i = 0; i < p.out.rows; ++i) {
        T* const to = &p.out.at(i, j0);
        for (std::int64_t k = 0; k < depth; ++k) {
          const Sum<T> weight = alpha * static_cast<Sum<T>>(p.a.at(i, k0 + k));
          const T* const row = block + k * cols;
          for (std::int64_t j = 0; j < cols; ++j)
            to[j] = static_cast<T>(static_cast<Sum<T>>(to[j]) +
                                   weight * static_cast<Sum<T>>(row[j]));
        }
      }
    }
  }
  return ok();
}

// `m` in float, in `memory`, its neighbors still neighbors.
template <typename T>
Matrix<const float> widened(const Matrix<const T>& m, float* memory) noexcept {
  // Without elements there may be no data to point into.
  if (m.rows == 0 || m.cols == 0)
    return packed<const float>(memory, m.rows, m.cols);
  const bool turned = m.col_step != 1 && m.row_step == 1;
  const Matrix<const T> from = turned ? m.transposed() : m;
  for (std::int64_t i = 0; i < from.rows; ++i) {
    float* to = memory + i * from.cols;
    if (from.col_step == 1)
      widen(&from.at(i, 0), from.cols, to);
    else
      for (std::int64_t j = 0; j < from.cols; ++j)
        to[j] = to_float(from.at(i, j));
  }
  const auto wide = packed<const float>(memory, from.rows, from.cols);
  return turned ? wide.transposed() : wide;
}

BFloat16 narrow(float value, BFloat16) { return tensor::to_bfloat16(value); }
Half narrow(float value, Half) { return tensor::to_half(value); }

template <typename T>
Status multiply_wide(const Product<T>& p) {
  if (p.out.rows == 0 || p.out.cols == 0) return ok();
  // So many columns that their widened block stays in the cache, but at least
  // a few vectors' worth.
  constexpr std::int64_t kCached = 1 << 17;
  const std::int64_t depth = p.a.cols;
  const std::int64_t most_cols =
      std::max<std::int64_t>(32, kCached / std::max<std::int64_t>(depth, 1));
  const std::int64_t width = std::min(p.out.cols, most_cols);
  const std::int64_t height = std::min(p.out.rows, kBlockRows);
  BERTH_TRY(const Scratch<float> left, Scratch<float>::of(height * depth));
  BERTH_TRY(const Scratch<float> right, Scratch<float>::of(depth * width));
  BERTH_TRY(const Scratch<float> sums, Scratch<float>::of(height * width));
  for (std::int64_t i0 = 0; i0 < p.out.rows; i0 += height) {
    const std::int64_t rows = std::min(height, p.out.rows - i0);
    const auto a = widened(p.a.block(i0, 0, rows, depth), left.data());
    for (std::int64_t j0 = 0; j0 < p.out.cols; j0 += width) {
      const std::int64_t cols = std::min(width, p.out.cols - j0);
      const auto b = widened(p.b.block(0, j0, depth, cols), right.data());
      const auto sum = packed(sums.data(), rows, cols);
      BERTH_CHECK(sgemm(static_cast<float>(p.alpha), a, b, 0, sum));
      const auto beta = static_cast<float>(p.beta);
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < cols; ++j) {
          float value = sum.at(i, j);
          if (beta != 0) value += beta * to_float(p.self.at(i0 + i, j0 + j));
          p.out.at(i0 + i, j0 + j) = narrow(value, T{});
        }
      }
    }
  }
  return ok();
}

}  // namespace

Status multiply(const Product<float>& p) {
  const auto alpha = static_cast<float>(p.alpha);
  if (p.beta == 0 || same_place(p.self, p.out))
    return sgemm(alpha, p.a, p.b, static_cast<float>(p.beta), p.out);
  lay(p.beta, p.self, p.out);
  return sgemm(alpha, p.a, p.b, 1, p.out);
}

Status multiply(const Product<Half>& p) { return multiply_wide(p); }
Status multiply(const Product<BFloat16>& p) { return multiply_wide(p); }
Status multiply(const Product<double>& p) { return multiply_plainly(p); }
Status multiply(const Product<std::uint8_t>& p) { return multiply_plainly(p); }
Status multiply(const Product<std::int8_t>& p) { return multiply_plainly(p); }
Status multiply(const Product<std::int16_t>& p) { return multiply_plainly(p); }
Status multiply(const Product<std::int32_t>& p) { return multiply_plainly(p); }
Status multiply(const Product<std::int64_t>& p) { return multiply_plainly(p); }

}  // namespace berth::shim
