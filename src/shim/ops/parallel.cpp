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

// ThreadSanitizer does not see how libgomp's threads wait for each other.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define BERTH_THREAD_SANITIZER
#endif
#elif defined(__SANITIZE_THREAD__)
#define BERTH_THREAD_SANITIZER
#endif
#ifdef BERTH_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#define BERTH_ACQUIRE(at) __tsan_acquire(at)
#define BERTH_RELEASE(at) __tsan_release(at)
#else
#define BERTH_ACQUIRE(at) static_cast<void>(at)
#define BERTH_RELEASE(at) static_cast<void>(at)
#endif

namespace berth::shim {
namespace {

struct Call {
  void (*run)(void*);
  void* data;
};

void run_call(void* at) {
  BERTH_ACQUIRE(at);
  const auto& call = *static_cast<const Call*>(at);
  call.run(call.data);
  BERTH_RELEASE(at);
}

}  // namespace

int thread_count(std::int64_t tasks) noexcept {
  if (tasks <= 1 || omp_in_parallel() != 0) return 1;
  return static_cast<int>(
      std::min<std::int64_t>(tasks, std::max(omp_get_max_threads(), 1)));
}

void run_on_threads(int threads, void (*run)(void*), void* data) noexcept {
  Call call{run, data};
  BERTH_RELEASE(&call);
  GOMP_parallel(run_call, &call, static_cast<unsigned>(threads), 0);
  BERTH_ACQUIRE(&call);
}

int thread_index() noexcept { return omp_get_thread_num(); }

}  // namespace berth::shim
