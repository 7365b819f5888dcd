#include "shim/ops/parallel.h"

#include <algorithm>

// https://gcc.gnu.org/onlinedocs/libgomp/The-libgomp-ABI.html
extern "C" {
void GOMP_parallel(void (*run)(void*), void* data, unsigned threads,
                   unsigned flags);
int omp_get_max_threads();
int omp_get_thread_num();
int omp_in_parallel();
}

namespace berth::shim {

int thread_count(std::int64_t tasks) noexcept {
  if (tasks <= 1 || omp_in_parallel() != 0) return 1;
  return static_cast<int>(
      std::min<std::int64_t>(tasks, std::max(omp_get_max_threads(), 1)));
}

void run_on_threads(int threads, void (*run)(void*), void* data) noexcept {
  GOMP_parallel(run, data, static_cast<unsigned>(threads), 0);
}

int thread_index() noexcept { return omp_get_thread_num(); }

}  // namespace berth::shim
