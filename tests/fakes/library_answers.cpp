// A library with state of every kind that decides whether two loaded copies
// collide: a static, a static of an inline function (unique to the process with
// g++), and a thread_local with a destructor. ANSWER tells two builds apart.

namespace {

int calls = 0;
int* destroyed = nullptr;

// Counts its own end where the host asked for it.
struct Note {
  bool touched = false;
  ~Note() {
    if (destroyed != nullptr)
      __atomic_add_fetch(destroyed, 1, __ATOMIC_SEQ_CST);
  }
};

thread_local Note note;

}  // namespace

inline int& shared_by_g_plus_plus() {
  static int count = 0;
  return count;
}

#define BERTH_EXPORT extern "C" __attribute__((visibility("default")))

BERTH_EXPORT __attribute__((noinline)) int answer() { return ANSWER; }
// By the name, which the host may define, too.
BERTH_EXPORT int answer_by_name() { return answer(); }
BERTH_EXPORT int count_calls() { return ++calls; }
BERTH_EXPORT int count_inline_calls() { return ++shared_by_g_plus_plus(); }

BERTH_EXPORT void report_destroyed(int* counter) { destroyed = counter; }
BERTH_EXPORT void touch_thread() { note.touched = true; }

// Runs the host's function, as a run of a model calls the shim.
BERTH_EXPORT void call_back(void (*function)()) { function(); }
