#include "shim/ops/fft_lines.h"

#include <algorithm>
#include <array>
#include <memory>

#include "shim/ops/fft_kernels.h"
#include "shim/ops/parallel.h"
#include "shim/ops/scratch.h"
#include "shim/ops/transpose.h"

namespace berth::shim {
namespace {

using tensor::Complex;

constexpr std::int64_t kMostLanes = 16;
constexpr std::int64_t kTile = 4;  // Lines that are read or written together.
// Elements that are worth another thread.
constexpr std::int64_t kElementsOfThread = 1 << 13;

// So many lines as the kernels take at once, and the memory for them.
template <typename T>
class Group {
 public:
  Group(const FftLines<T>& job, const FftPlan<T>& plan,
        const FftKernels<T>& kernels, T* memory) noexcept
      : job_(job),
        plan_(plan),
        kernels_(kernels),
        lanes_(kernels.lanes),
        data_(memory),
        spare_(memory + size(plan, kernels) / 2) {}

  // Elements of memory that it takes.
  static std::int64_t size(const FftPlan<T>& plan,
                           const FftKernels<T>& kernels) noexcept {
    const std::int64_t unfolded = plan.folds.empty() ? 0 : plan.size + 1;
    return 2 * 2 * kernels.lanes * std::max(plan.work(), unfolded);
  }

  void run(std::int64_t first, std::int64_t count) noexcept {
    place(first, count);
    // Lines that are not there are zeros, and so are imaginary parts.
    const bool padded = job_.real != nullptr && plan_.folds.empty();
    if (count < lanes_ || padded)
      std::fill_n(data_, plan_.size * 2 * lanes_, T{0});
    if (job_.real == nullptr)
      read(reinterpret_cast<const T*>(job_.from), 2, lanes_);
    else
      read(job_.real, 1, padded ? 2 * lanes_ : lanes_);
    T* result = kernels_.transform(plan_, data_, spare_);
    if (job_.inverse) kernels_.invert(plan_.size, result);
    if (!plan_.folds.empty()) {
      T* const out = result == data_ ? spare_ : data_;
      kernels_.unfold(plan_, result, out);
      result = out;
    }
    // What was unfolded is the first half; the rest mirrors it.
    const std::int64_t known =
        plan_.folds.empty() ? job_.kept : std::min(job_.kept, plan_.size + 1);
    if (job_.factor != 1)
      kernels_.scale(known, static_cast<T>(job_.factor), result);
    write(result, known);
    mirror(known);
  }

 private:
  void place(std::int64_t first, std::int64_t count) noexcept {
    count_ = count;
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t line = first + i;
      std::int64_t from = 0;
      std::int64_t to = 0;
      for (std::size_t d = job_.across.size(); d > 0; --d) {
        const FftAcross& across = job_.across[d - 1];
        from += line % across.size * across.from_step;
        to += line % across.size * across.to_step;
        line /= across.size;
      }
      from_[static_cast<std::size_t>(i)] = from;
      to_[static_cast<std::size_t>(i)] = to;
    }
  }

  // Elements of `parts` numbers, part after part into rows of `row`. Lines
  // whose elements are neighbors are read some at a time: all at once, those of
  // a length that is a power of two would drive each other from the cache.
  void read(const T* from, std::int64_t parts, std::int64_t row) noexcept {
    if (job_.from_step == 1) {
      for (std::int64_t i = 0; i < count_; i += kTile) {
        const std::int64_t some = even_lines(from_, i);
        const std::int64_t step = some > 1 ? place_of(from_, i, 1) : 0;
        const T* const first =
            from + parts * from_[static_cast<std::size_t>(i)];
        transpose({first, some, parts * job_.size, parts * step, 1}, data_ + i,
                  row);
        for (std::int64_t rest = some; rest < tile(i); ++rest)
          transpose({first + parts * place_of(from_, i, rest), 1,
                     parts * job_.size, 0, 1},
                    data_ + i + rest, row);
      }
      return;
    }
    for (std::int64_t k = 0; k < job_.size; ++k)
      for (std::int64_t i = 0; i < count_; ++i)
        for (std::int64_t part = 0; part < parts; ++part)
          data_[(k * parts + part) * row + i] =
              from[parts * (from_[static_cast<std::size_t>(i)] +
                            k * job_.from_step) +
                   part];
  }

  // The first `known` numbers of each line.
  void write(const T* result, std::int64_t known) const noexcept {
    T* const to = reinterpret_cast<T*>(job_.to);
    if (job_.to_step == 1) {
      for (std::int64_t i = 0; i < count_; i += kTile) {
        const std::int64_t some = even_lines(to_, i);
        const std::int64_t step = some > 1 ? place_of(to_, i, 1) : 0;
        T* const first = to + 2 * to_[static_cast<std::size_t>(i)];
        transpose({result + i, 2 * known, some, lanes_, 1}, first, 2 * step);
        for (std::int64_t rest = some; rest < tile(i); ++rest)
          transpose({result + i + rest, 2 * known, 1, lanes_, 1},
                    first + 2 * place_of(to_, i, rest), 0);
      }
      return;
    }
    for (std::int64_t k = 0; k < known; ++k)
      for (std::int64_t i = 0; i < count_; ++i)
        job_.to[to_[static_cast<std::size_t>(i)] + k * job_.to_step] = {
            result[2 * k * lanes_ + i], result[(2 * k + 1) * lanes_ + i]};
  }

  void mirror(std::int64_t known) const noexcept {
    for (std::int64_t i = 0; i < count_; ++i) {
      Complex<T>* const line = job_.to + to_[static_cast<std::size_t>(i)];
      for (std::int64_t k = known; k < job_.kept; ++k) {
        const Complex<T>& other = line[(job_.size - k) * job_.to_step];
        line[k * job_.to_step] = {other.real, -other.imag};
      }
    }
  }

  using Places = std::array<std::int64_t, kMostLanes>;

  // Where the line `next` after `i` begins, from the beginning of `i`.
  static std::int64_t place_of(const Places& places, std::int64_t i,
                               std::int64_t next) noexcept {
    return places[static_cast<std::size_t>(i + next)] -
           places[static_cast<std::size_t>(i)];
  }

  std::int64_t tile(std::int64_t i) const noexcept {
    return std::min(kTile, count_ - i);
  }

  // How many of the tile's lines lie at one distance, the first of them.
  std::int64_t even_lines(const Places& places, std::int64_t i) const noexcept {
    std::int64_t some = std::min<std::int64_t>(2, tile(i));
    while (some < tile(i) &&
           place_of(places, i, some) == some * place_of(places, i, 1))
      ++some;
    return some;
  }

  const FftLines<T>& job_;
  const FftPlan<T>& plan_;
  const FftKernels<T>& kernels_;
  std::int64_t lanes_;
  T* data_;
  T* spare_;
  std::int64_t count_ = 0;
  Places from_{};
  Places to_{};
};

template <typename T>
Status transform_all(const FftLines<T>& job) {
  std::int64_t lines = 1;
  for (const FftAcross& across : job.across) lines *= across.size;
  const bool folded = job.real != nullptr && job.size % 2 == 0;
  const auto plan = fft_plan(folded ? job.size / 2 : job.size, folded, T{});
  const FftKernels<T>& kernels = fft_kernels(lines, T{});
  const std::int64_t groups = (lines + kernels.lanes - 1) / kernels.lanes;
  const int threads =
      thread_count(std::min(groups, lines * job.size / kElementsOfThread));
  const std::int64_t size = Group<T>::size(*plan, kernels);
  std::int64_t total = 0;
  if (__builtin_mul_overflow(size, std::int64_t{threads}, &total)) total = -1;
  BERTH_TRY(const Scratch<T> scratch, Scratch<T>::of(total));
  share_tasks(groups, threads, [&](int thread, std::int64_t group) {
    const std::int64_t first = group * kernels.lanes;
    Group<T>(job, *plan, kernels, scratch.data() + thread * size)
        .run(first, std::min(kernels.lanes, lines - first));
  });
  return ok();
}

}  // namespace

Status transform_lines(const FftLines<float>& lines) {
  return transform_all(lines);
}

Status transform_lines(const FftLines<double>& lines) {
  return transform_all(lines);
}

}  // namespace berth::shim
