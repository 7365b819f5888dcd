#include "shim/ops/transpose.h"

#include <gmock/gmock.h>

#include <numeric>
#include <vector>

namespace berth::shim {
namespace {

template <typename T>
void expect_turned(std::int64_t rows, std::int64_t cols,
                   std::int64_t row_step) {
  std::vector<T> from(static_cast<std::size_t>(rows * 20 + 20));
  std::iota(from.begin(), from.end(), T{1});
  const Matrix<const T> matrix{from.data(), rows, cols, row_step, 1};
  const std::int64_t step = rows + 3;
  std::vector<T> to(static_cast<std::size_t>(cols * step), T{-1});
  transpose(matrix, to.data(), step);
  add_transposed(matrix, to.data(), step);
  for (std::int64_t j = 0; j < cols; ++j)
    for (std::int64_t i = 0; i < step; ++i)
      EXPECT_EQ(to[static_cast<std::size_t>(j * step + i)],
                i < rows ? 2 * matrix.at(i, j) : -1)
          << rows << "x" << cols << " at " << i << ", " << j;
}

TEST(Transpose, TurnsRowsToColumnsAndAddsThem) {
  for (std::int64_t rows = 0; rows < 10; ++rows)
    for (std::int64_t cols = 0; cols < 10; ++cols)
      for (const std::int64_t row_step : {0, 1, 10, 17}) {
        expect_turned<float>(rows, cols, row_step);
        expect_turned<double>(rows, cols, row_step);
      }
}

}  // namespace
}  // namespace berth::shim
