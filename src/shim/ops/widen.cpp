#include "shim/ops/widen.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "base/cpu.h"
#endif

namespace berth::shim {

using tensor::BFloat16;
using tensor::Half;

namespace {

#if defined(__x86_64__)

constexpr std::int64_t kLanes = 8;

// Eight at a time; returns how many that were.
__attribute__((target("avx2,f16c"))) std::int64_t widen_vectors(
    const Half* from, std::int64_t count, float* to) noexcept {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(
                                 reinterpret_cast<const __m128i*>(from + i))));
  return i;
}

__attribute__((target("avx2,f16c"))) std::int64_t widen_vectors(
    const BFloat16* from, std::int64_t count, float* to) noexcept {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const __m256i bits = _mm256_cvtepu16_epi32(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
    _mm256_storeu_ps(to + i, _mm256_castsi256_ps(_mm256_slli_epi32(bits, 16)));
  }
  return i;
}

bool has_vectors() noexcept {
  static const bool has = base::CpuFeatures::of_this_machine().avx2;
  return has;
}

#else

template <typename T>
std::int64_t widen_vectors(const T*, std::int64_t, float*) noexcept {
  return 0;
}
bool has_vectors() noexcept { return false; }

#endif

template <typename T>
void widen_all(const T* from, std::int64_t count, float* to) noexcept {
  std::int64_t i = has_vectors() ? widen_vectors(from, count, to) : 0;
  for (; i < count; ++i) to[i] = to_float(from[i]);
}

}  // namespace

void widen(const Half* from, std::int64_t count, float* to) noexcept {
  widen_all(from, count, to);
}

void widen(const BFloat16* from, std::int64_t count, float* to) noexcept {
  widen_all(from, count, to);
}

}  // namespace berth::shim
