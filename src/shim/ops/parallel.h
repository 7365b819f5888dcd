// Work shared among OpenMP's threads.
//
// It calls libgomp by its functions instead of by pragmas: clang's pragmas call
// another run time, whose threads would be a second pool beside the one that
// delegates and oneDNN use.
#pragma once

#include <atomic>
#include <cstdint>

namespace berth::shim {

// How many threads may share `tasks` tasks here: one inside a parallel region,
// because its threads are busy already.
int thread_count(std::int64_t tasks) noexcept;

// Calls run(data) on up to `threads` threads, the calling one included, and
// returns when all calls have. ThreadSanitizer does not see libgomp's waiting:
// whoever shares memory orders it with an atomic, as share_tasks() does.
void run_on_threads(int threads, void (*run)(void*), void* data) noexcept;

// The calling thread's number among them, from 0.
int thread_index() noexcept;

// Calls body(thread, task) once for every task from 0 to `tasks`, on up to
// `threads` threads; `thread` tells those apart. Tasks are dealt out one by
// one, so that they may take different times. `body` must not throw.
template <typename Body>
void share_tasks(std::int64_t tasks, int threads, const Body& body) noexcept {
  struct Shared {
    const Body* body;
    std::int64_t tasks;
    std::atomic<std::int64_t> next;
  } shared{&body, tasks, {0}};
  shared.next.store(0, std::memory_order_release);
  const auto run = [](void* data) {
    auto& all = *static_cast<Shared*>(data);
    const int thread = thread_index();
    // Acquires what the caller wrote; the last turn releases what was done.
    for (std::int64_t task = all.next.fetch_add(1, std::memory_order_acq_rel);
         task < all.tasks;
         task = all.next.fetch_add(1, std::memory_order_acq_rel))
      (*all.body)(thread, task);
  };
  if (threads <= 1) {
    for (std::int64_t task = 0; task < tasks; ++task) body(0, task);
    return;
  }
  run_on_threads(threads, run, &shared);
  static_cast<void>(shared.next.load(std::memory_order_acquire));
}

}  // namespace berth::shim
