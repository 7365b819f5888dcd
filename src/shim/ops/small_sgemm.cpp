#include "shim/ops/small_sgemm.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "base/cpu.h"

namespace berth::shim {
namespace {

#define BERTH_AVX2 __attribute__((target("avx2,fma")))
// The arrays of sums below are registers, once the loops over them are gone.
#ifdef __clang__
#define BERTH_UNROLL _Pragma("unroll")
#else
#define BERTH_UNROLL _Pragma("GCC unroll 16")
#endif

// Up to this many multiply-adds a call of oneDNN costs more than it saves.
constexpr double kMostWork = 1 << 17;
// Dot products of a few rows are bound by the memory of b, which oneDNN 2.6
// first packs: here the kernel is two to three times as fast, until b is so
// large that more threads help. Both measured on an AVX2 machine, one thread.
constexpr double kMostWorkOfFewRows = 1 << 22;
constexpr std::int64_t kFewRows = 6;

// The kernels hold eight to twelve vectors of sums in registers: enough to hide
// the latency of an FMA, and few enough to leave room for the operands.
constexpr int kLanes = 8;

struct Product {
  Matrix<const float> a;
  Matrix<const float> b;
  Matrix<float> out;
  float alpha;
  float beta;
};

// All ones in the first `count` lanes.
BERTH_AVX2 __m256i mask_of(std::int64_t count) {
  alignas(32) static constexpr std::int32_t kOnes[16] = {
      -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
  return _mm256_loadu_si256(
      reinterpret_cast<const __m256i*>(kOnes + kLanes - count));
}

// The sums of the lanes of four vectors.
BERTH_AVX2 __m128 sum_lanes(__m256 a, __m256 b, __m256 c, __m256 d) {
  const __m256 sums =
      _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
  return _mm_add_ps(_mm256_castps256_ps128(sums),
                    _mm256_extractf128_ps(sums, 1));
}

// Four neighbors of a row of out.
BERTH_AVX2 void store(const Product& p, float* to, __m128 sums) {
  __m128 result = _mm_mul_ps(_mm_set1_ps(p.alpha), sums);
  if (p.beta != 0)
    result = _mm_fmadd_ps(_mm_set1_ps(p.beta), _mm_loadu_ps(to), result);
  _mm_storeu_ps(to, result);
}

// kRows x kCols elements of out, each the dot product of a row of a and a
// column of b, both contiguous: the weights of a linear layer lie like this.
// kCols is 1 or a multiple of 4.
template <int kRows, int kCols>
BERTH_AVX2 void dot_tile(const Product& p, std::int64_t i, std::int64_t j) {
  __m256 sums[kRows][kCols];
  BERTH_UNROLL for (auto& row : sums) {
    BERTH_UNROLL for (__m256& sum : row) sum = _mm256_setzero_ps();
  }
  const float* a = &p.a.at(i, 0);
  const float* b = &p.b.at(0, j);
  const std::int64_t depth = p.a.cols;
  std::int64_t k = 0;
  for (; k + kLanes <= depth; k += kLanes) {
    __m256 rows[kRows];
    BERTH_UNROLL for (int r = 0; r < kRows; ++r) rows[r] =
        _mm256_loadu_ps(a + r * p.a.row_step + k);
    BERTH_UNROLL for (int c = 0; c < kCols; ++c) {
      const __m256 col = _mm256_loadu_ps(b + c * p.b.col_step + k);
      BERTH_UNROLL for (int r = 0; r < kRows; ++r) sums[r][c] =
          _mm256_fmadd_ps(rows[r], col, sums[r][c]);
    }
  }
  if (k < depth) {
    const __m256i mask = mask_of(depth - k);
    __m256 rows[kRows];
    BERTH_UNROLL for (int r = 0; r < kRows; ++r) rows[r] =
        _mm256_maskload_ps(a + r * p.a.row_step + k, mask);
    BERTH_UNROLL for (int c = 0; c < kCols; ++c) {
      const __m256 col = _mm256_maskload_ps(b + c * p.b.col_step + k, mask);
      BERTH_UNROLL for (int r = 0; r < kRows; ++r) sums[r][c] =
          _mm256_fmadd_ps(rows[r], col, sums[r][c]);
    }
  }
  BERTH_UNROLL for (int r = 0; r < kRows; ++r) {
    float* to = &p.out.at(i + r, j);
    if constexpr (kCols == 1) {
      const __m256 zero = _mm256_setzero_ps();
      const float sum = _mm_cvtss_f32(sum_lanes(sums[r][0], zero, zero, zero));
      *to = p.beta == 0 ? p.alpha * sum : p.alpha * sum + p.beta * *to;
    } else {
      BERTH_UNROLL for (int c = 0; c < kCols; c += 4)
          store(p, to + c,
                sum_lanes(sums[r][c], sums[r][c + 1], sums[r][c + 2],
                          sums[r][c + 3]));
    }
  }
}

template <int kRows, int kCols>
BERTH_AVX2 void dot_rows(const Product& p, std::int64_t i) {
  std::int64_t j = 0;
  for (; j + kCols <= p.out.cols; j += kCols) dot_tile<kRows, kCols>(p, i, j);
  for (; j < p.out.cols; ++j) dot_tile<kRows, 1>(p, i, j);
}

// kRows rows of out, kVectors * 8 columns or, with a mask, fewer: rows of b,
// which are contiguous, weighted by single elements of a.
template <int kRows, int kVectors>
BERTH_AVX2 void row_tile(const Product& p, std::int64_t i, std::int64_t j,
                         __m256i mask) {
  __m256 sums[kRows][kVectors];
  BERTH_UNROLL for (auto& row : sums) {
    BERTH_UNROLL for (__m256& sum : row) sum = _mm256_setzero_ps();
  }
  const float* a = &p.a.at(i, 0);
  const float* b = &p.b.at(0, j);
  for (std::int64_t k = 0; k < p.a.cols; ++k) {
    const float* from = b + k * p.b.row_step;
    BERTH_UNROLL for (int v = 0; v < kVectors; ++v) {
      const __m256 row = kVectors > 1 ? _mm256_loadu_ps(from + v * kLanes)
                                      : _mm256_maskload_ps(from, mask);
      BERTH_UNROLL for (int r = 0; r < kRows; ++r) {
        const __m256 weight =
            _mm256_set1_ps(a[r * p.a.row_step + k * p.a.col_step]);
        sums[r][v] = _mm256_fmadd_ps(weight, row, sums[r][v]);
      }
    }
  }
  const __m256 alpha = _mm256_set1_ps(p.alpha);
  const __m256 beta = _mm256_set1_ps(p.beta);
  BERTH_UNROLL for (int r = 0; r < kRows; ++r) {
    float* to = &p.out.at(i + r, j);
    BERTH_UNROLL for (int v = 0; v < kVectors; ++v, to += kLanes) {
      __m256 result = _mm256_mul_ps(alpha, sums[r][v]);
      if (p.beta != 0)
        result = _mm256_fmadd_ps(beta, _mm256_maskload_ps(to, mask), result);
      _mm256_maskstore_ps(to, mask, result);
    }
  }
}

template <int kRows>
BERTH_AVX2 void weighted_rows(const Product& p, std::int64_t i) {
  constexpr int kVectors = 8 / kRows;
  const __m256i whole = mask_of(kLanes);
  std::int64_t j = 0;
  for (; j + kVectors * kLanes <= p.out.cols; j += kVectors * kLanes)
    row_tile<kRows, kVectors>(p, i, j, whole);
  for (; j + kLanes <= p.out.cols; j += kLanes)
    row_tile<kRows, 1>(p, i, j, whole);
  if (j < p.out.cols) row_tile<kRows, 1>(p, i, j, mask_of(p.out.cols - j));
}

#undef BERTH_AVX2
#undef BERTH_UNROLL

bool has_avx2_and_fma() noexcept {
  static const bool has = base::CpuFeatures::of_this_machine().avx2;
  return has;
}

}  // namespace

bool small_sgemm(float alpha, const Matrix<const float>& a,
                 const Matrix<const float>& b, float beta,
                 const Matrix<float>& out) noexcept {
  if (!has_avx2_and_fma()) return false;
  const bool rows = b.cols <= 1 || b.col_step == 1;
  const bool dots =
      (a.cols <= 1 || a.col_step == 1) && (b.rows <= 1 || b.row_step == 1);
  if (!rows && !dots) return false;
  const double work = static_cast<double>(out.rows) *
                      static_cast<double>(out.cols) *
                      static_cast<double>(a.cols);
  const bool few_rows = dots && out.rows > 1 && out.rows <= kFewRows;
  if (work > (few_rows ? kMostWorkOfFewRows : kMostWork)) return false;
  const Product p{a, b, out, alpha, beta};
  std::int64_t i = 0;
  if (dots) {
    for (; i + 3 <= out.rows; i += 3) dot_rows<3, 4>(p, i);
    if (i + 2 <= out.rows)
      dot_rows<2, 4>(p, i);
    else if (i < out.rows)
      dot_rows<1, 8>(p, i);
  } else {
    for (; i + 4 <= out.rows; i += 4) weighted_rows<4>(p, i);
    for (; i + 2 <= out.rows; i += 2) weighted_rows<2>(p, i);
    if (i < out.rows) weighted_rows<1>(p, i);
  }
  return true;
}

}  // namespace berth::shim

#else

namespace berth::shim {

bool small_sgemm(float, const Matrix<const float>&, const Matrix<const float>&,
                 float, const Matrix<float>&) noexcept {
  return false;
}

}  // namespace berth::shim

#endif
