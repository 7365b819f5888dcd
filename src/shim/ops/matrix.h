// A matrix in memory of any strides, as the operators of this folder see it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace berth::shim {

// Borrows its elements. Steps count elements and may be 0, which repeats.
template <typename T>
struct Matrix {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t row_step = 0;
  std::int64_t col_step = 0;

  T& at(std::int64_t i, std::int64_t j) const noexcept {
    return data[i * row_step + j * col_step];
  }

  Matrix transposed() const noexcept {
    return {data, cols, rows, col_step, row_step};
  }

  Matrix block(std::int64_t i, std::int64_t j, std::int64_t row_count,
               std::int64_t col_count) const noexcept {
    return {data == nullptr ? nullptr : &at(i, j), row_count, col_count,
            row_step, col_step};
  }

  // The distance between rows whose elements are neighbors, which is what BLAS
  // calls the leading dimension; 0 when they are not, or when rows overlap.
  std::int64_t leading() const noexcept {
    if (cols > 1 && col_step != 1) return 0;
    const std::int64_t step =
        rows > 1 ? row_step : std::max<std::int64_t>(cols, 1);
    return step >= std::max<std::int64_t>(cols, 1) ? step : 0;
  }
};

template <typename T>
Matrix<const T> read_only(const Matrix<T>& m) noexcept {
  return {m.data, m.rows, m.cols, m.row_step, m.col_step};
}

// A row-major matrix without gaps.
template <typename T>
Matrix<T> packed(T* data, std::int64_t rows, std::int64_t cols) noexcept {
  return {data, rows, cols, cols, 1};
}

}  // namespace berth::shim
