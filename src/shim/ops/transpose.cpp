#include "shim/ops/transpose.h"

namespace berth::shim {
namespace {

// What every processor has:
// https://gcc.gnu.org/onlinedocs/gcc/Vector-Extensions.html
typedef float Four __attribute__((vector_size(16)));
typedef float Loose __attribute__((vector_size(16), aligned(4), may_alias));

Four load(const float* from) { return *reinterpret_cast<const Loose*>(from); }

template <bool kAdd>
void put(Four values, float* to) {
  if constexpr (kAdd) values += load(to);
  *reinterpret_cast<Loose*>(to) = values;
}

template <bool kAdd, typename T>
void put(T value, T* to) {
  *to = kAdd ? *to + value : value;
}

// Four rows and four columns.
template <bool kAdd>
void turn_tile(const float* from, std::int64_t from_step, float* to,
               std::int64_t step) {
  const Four a = load(from);
  const Four b = load(from + from_step);
  const Four c = load(from + 2 * from_step);
  const Four d = load(from + 3 * from_step);
  const Four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Four ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Four cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Four cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  put<kAdd>(__builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5), to);
  put<kAdd>(__builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7), to + step);
  put<kAdd>(__builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5),
            to + 2 * step);
  put<kAdd>(__builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7),
            to + 3 * step);
}

// The elements of `from` from row `i` and column `j` on, one by one.
template <bool kAdd, typename T>
void turn_rest(const Matrix<const T>& from, std::int64_t i, std::int64_t j,
               T* to, std::int64_t step) {
  for (; j < from.cols; ++j)
    for (std::int64_t row = i; row < from.rows; ++row)
      put<kAdd>(from.data[row * from.row_step + j], to + j * step + row);
}

template <bool kAdd>
void turn(const Matrix<const float>& from, float* to, std::int64_t step) {
  std::int64_t i = 0;
  for (; i + 4 <= from.rows; i += 4) {
    std::int64_t j = 0;
    for (; j + 4 <= from.cols; j += 4)
      turn_tile<kAdd>(from.data + i * from.row_step + j, from.row_step,
                      to + j * step + i, step);
    turn_rest<kAdd>({from.data, i + 4, from.cols, from.row_step, 1}, i, j, to,
                    step);
  }
  turn_rest<kAdd>(from, i, 0, to, step);
}

}  // namespace

void transpose(const Matrix<const float>& from, float* to,
               std::int64_t step) noexcept {
  turn<false>(from, to, step);
}

void transpose(const Matrix<const double>& from, double* to,
               std::int64_t step) noexcept {
  turn_rest<false>(from, 0, 0, to, step);
}

void add_transposed(const Matrix<const float>& from, float* to,
                    std::int64_t step) noexcept {
  turn<true>(from, to, step);
}

void add_transposed(const Matrix<const double>& from, double* to,
                    std::int64_t step) noexcept {
  turn_rest<true>(from, 0, 0, to, step);
}

}  // namespace berth::shim
