// Rows to columns, for loops that want the one where the other is in memory.
#pragma once

#include <cstdint>

#include "shim/ops/matrix.h"

namespace berth::shim {

// to[j * step + i] = from(i, j). The elements of a row of `from` are neighbors;
// `to` does not overlap it.
void transpose(const Matrix<const float>& from, float* to,
               std::int64_t step) noexcept;
void transpose(const Matrix<const double>& from, double* to,
               std::int64_t step) noexcept;

// to[j * step + i] += from(i, j). A row of `from` may be all of them.
void add_transposed(const Matrix<const float>& from, float* to,
                    std::int64_t step) noexcept;
void add_transposed(const Matrix<const double>& from, double* to,
                    std::int64_t step) noexcept;

}  // namespace berth::shim
