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
// returns when all calls have. What the caller wrote is seen by the calls, and
// what they wrote by the caller.
void run_on_threads(int threads, void (*run)(void*), void* data) noexcept;

// The calling thread's number among them, from 0.
int thread_index() noexcept;

// Calls body(thread, task) once for every task from 0 to `tasks`, on up to
// `threads` threads; `thread` tells those apart. Tasks are dealt out one by
// one, so that they may take different times. `body` must not throw.
template <typename Body>
void share_tasks(std::int64_t tasks, int threads, const Body& body) noexcept {
  if (threads <= 1) {
    for (std::int64_t task = 0; task < tasks; ++task) body(0, task);
    return;
  }
  struct Shared {
    const Body& body;
    std::int64_t tasks;
    std::atomic<std::int64_t> next;
  } shared{body, tasks, {0}};
  const auto run = [](void* data) {
    auto& all = *static_cast<Shared*>(data);
    const auto take = [&] {
      return all.next.fetch_add(1, std::memory_order_relaxed);
    };
    const int thread = thread_index();
    for (std::int64_t task = take(); task < all.tasks; task = take())
      all.body(thread, task);
  };
  run_on_threads(threads, run, &shared);
}

}  // namespace berth::shim
