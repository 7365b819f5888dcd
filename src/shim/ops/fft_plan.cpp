#include "shim/ops/fft_plan.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>
#include <utility>

#include "shim/ops/fft_kernels.h"

namespace berth::shim {
namespace {

// Plans of more are as large as the data and are not kept.
constexpr std::int64_t kMostKept = 1 << 16;
constexpr std::size_t kKept = 16;

// exp(-2 pi i k / size) for 0 <= k < size.
template <typename T>
void put_turn(std::int64_t k, std::int64_t size, T* to) {
  const long double angle = 2 * std::numbers::pi_v<long double> *
                            static_cast<long double>(k) /
                            static_cast<long double>(size);
  to[0] = static_cast<T>(std::cos(angle));
  to[1] = static_cast<T>(-std::sin(angle));
}

// `count` of them.
template <typename T>
std::vector<T> turns_of(std::int64_t size, std::int64_t count) {
  std::vector<T> turns(static_cast<std::size_t>(2 * count));
  for (std::int64_t k = 0; k < count; ++k)
    put_turn(k, size, turns.data() + 2 * k);
  return turns;
}

// Fours first: they do the most in one go over the data. Empty when a prime
// factor has no butterfly.
std::vector<int> radices_of(std::int64_t size) {
  std::vector<int> radices;
  for (int radix = 4; size > 1 && radix <= kMostRadix;) {
    if (size % radix == 0) {
      radices.push_back(radix);
      size /= radix;
    } else {
      radix = radix == 4 ? 2 : radix == 2 ? 3 : radix + 2;
    }
  }
  if (size > 1) radices.clear();
  return radices;
}

template <typename T>
std::shared_ptr<FftPlan<T>> make(std::int64_t size);

template <typename T>
void add_convolution(FftPlan<T>& plan) {
  std::int64_t length = 1;
  while (length < 2 * plan.size - 1) length *= 2;
  plan.inner = std::make_unique<const FftPlan<T>>(std::move(*make<T>(length)));
  plan.chirp.resize(static_cast<std::size_t>(2 * plan.size));
  // One line of as many as the kernel takes.
  const FftKernels<T>& kernels = fft_kernels(1, T{});
  const std::int64_t width = 2 * kernels.lanes;
  std::vector<T> data(static_cast<std::size_t>(length * width));
  std::vector<T> spare(data.size());
  const auto put = [&](std::int64_t k, const T* turn) {
    data[static_cast<std::size_t>(k * width)] = turn[0];
    data[static_cast<std::size_t>(k * width + kernels.lanes)] = -turn[1];
  };
  // k^2 modulo twice the size, so that the angle loses no digits.
  std::int64_t square = 0;
  for (std::int64_t k = 0; k < plan.size; ++k) {
    T* const turn = plan.chirp.data() + 2 * k;
    put_turn(square, 2 * plan.size, turn);
    square = (square + 2 * k + 1) % (2 * plan.size);
    put(k, turn);
    if (k > 0) put(length - k, turn);
  }
  const T* const result =
      kernels.transform(*plan.inner, data.data(), spare.data());
  plan.spectrum.resize(static_cast<std::size_t>(2 * length));
  for (std::int64_t k = 0; k < length; ++k)
    for (std::int64_t part = 0; part < 2; ++part)
      plan.spectrum[static_cast<std::size_t>(2 * k + part)] =
          result[k * width + part * kernels.lanes] / static_cast<T>(length);
}

template <typename T>
std::shared_ptr<FftPlan<T>> make(std::int64_t size) {
  auto plan = std::make_shared<FftPlan<T>>();
  plan->size = size;
  plan->radices = radices_of(size);
  if (size > 1 && plan->radices.empty())
    add_convolution(*plan);
  else
    plan->turns = turns_of<T>(size, size);
  return plan;
}

// The most recently used plans, that one first.
template <typename T>
struct Kept {
  std::mutex mutex;
  std::vector<std::shared_ptr<const FftPlan<T>>> plans;
};

template <typename T>
std::shared_ptr<const FftPlan<T>> find(std::int64_t size, bool folded) {
  // Never destroyed: a delegate may run until the process ends.
  static auto& kept = *new Kept<T>;
  {
    const std::lock_guard lock(kept.mutex);
    const auto found = std::ranges::find_if(kept.plans, [&](const auto& plan) {
      return plan->size == size && plan->folds.empty() != folded;
    });
    if (found != kept.plans.end()) {
      std::rotate(kept.plans.begin(), found, found + 1);
      return kept.plans.front();
    }
  }
  std::shared_ptr<FftPlan<T>> plan = make<T>(size);
  if (folded) plan->folds = turns_of<T>(2 * size, size + 1);
  if (size <= kMostKept) {
    const std::lock_guard lock(kept.mutex);
    kept.plans.insert(kept.plans.begin(), plan);
    if (kept.plans.size() > kKept) kept.plans.pop_back();
  }
  return plan;
}

}  // namespace

std::shared_ptr<const FftPlan<float>> fft_plan(std::int64_t size, bool folded,
                                               float) {
  return find<float>(size, folded);
}

std::shared_ptr<const FftPlan<double>> fft_plan(std::int64_t size, bool folded,
                                                double) {
  return find<double>(size, folded);
}

}  // namespace berth::shim
