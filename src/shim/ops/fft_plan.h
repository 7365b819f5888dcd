// What a Fourier transform of one length needs to know, computed once.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace berth::shim {

// Factors up to this have a butterfly; lengths with larger ones are a circular
// convolution instead: L. Bluestein, "A linear filtering approach to the
// computation of discrete Fourier transform", 1970.
inline constexpr int kMostRadix = 61;

// Of complex numbers, which are stored as pairs: real, imaginary.
//
// Threads  any may read it.
template <typename T>
struct FftPlan {
  std::int64_t size = 0;
  std::vector<T> turns;  // exp(-2 pi i k / size) for each k.
  std::vector<int>
      radices;  // Their product is `size`, unless there is `inner`.

  // For the transform of twice as many real numbers: exp(-pi i k / size) for
  // each k and for `size`.
  std::vector<T> folds;

  std::unique_ptr<const FftPlan> inner;  // Of the convolution; a power of two.
  std::vector<T> chirp;                  // exp(-pi i k^2 / size) for each k.
  // The transform of the conjugate chirp on both sides of 0, by inner->size.
  std::vector<T> spectrum;

  // How many complex numbers each of two buffers must hold.
  std::int64_t work() const noexcept { return inner ? inner->size : size; }
};

// The plan for `size`, which is at least 1, with `folds` if `folded`. Recent
// ones are kept. Threads  any.
std::shared_ptr<const FftPlan<float>> fft_plan(std::int64_t size, bool folded,
                                               float);
std::shared_ptr<const FftPlan<double>> fft_plan(std::int64_t size, bool folded,
                                                double);

}  // namespace berth::shim
