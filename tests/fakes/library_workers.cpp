// Leaves a destructor to each thread of OpenMP's pool, which outlives it.
#include <atomic>

namespace {

int* destroyed = nullptr;

struct Note {
  bool touched = false;
  ~Note() { __atomic_add_fetch(destroyed, 1, __ATOMIC_SEQ_CST); }
};

thread_local Note note;

}  // namespace

#define BERTH_EXPORT extern "C" __attribute__((visibility("default")))

BERTH_EXPORT void report_destroyed(int* counter) { destroyed = counter; }

// Returns how many threads there were.
BERTH_EXPORT int touch_workers(int wanted) {
  std::atomic<int> touched = 0;
#pragma omp parallel num_threads(wanted)
  {
    note.touched = true;
    ++touched;
  }
  return touched;
}
