#include "library/thread_exit.h"

#include <cxxabi.h>
#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <new>
#include <utility>

// Names the object that this file is linked into.
extern "C" __attribute__((visibility("hidden"))) void* __dso_handle;

namespace berth::library {
namespace {

struct Registration {
  void (*destroy)(void*);
  void* object;
  const void* dso_handle;
  Registration* next;
};

// The registrations of one thread, latest first.
struct ThreadExits {
  Registration* latest = nullptr;
  ThreadExits* next = nullptr;
  // Destructors of this thread's objects that a close is running elsewhere. The
  // objects lie in the thread's own memory, so it may not end before they do.
  int running_elsewhere = 0;
};

// A destructor that a thread is running, on that thread's stack.
struct Running {
  const void* dso_handle;
  Running* next;
};

struct State {
  std::mutex mutex;
  std::condition_variable changed;  // A destructor has returned.
  ThreadExits* threads = nullptr;
  Running* running = nullptr;
};

// Never destroyed: threads may end after this object's static destructors.
State& state() {
  static auto* only = new State;
  return *only;
}

// Neither has a destructor, so both are usable to the thread's very end.
thread_local ThreadExits* mine = nullptr;
thread_local const AddressRange* ignored = nullptr;

// Finds nothing to do when a fork has emptied the list meanwhile.
template <typename Node>
void unlink_node(Node*& head, Node* node) noexcept {
  Node** link = &head;
  while (*link != nullptr && *link != node) link = &(*link)->next;
  if (*link == node) *link = node->next;
}

// Takes the latest registration that `wanted` accepts off `thread`.
template <typename Wanted>
Registration* take(ThreadExits& thread, Wanted&& wanted) noexcept {
  for (Registration** link = &thread.latest; *link; link = &(*link)->next) {
    if (!wanted(**link)) continue;
    Registration* found = *link;
    *link = found->next;
    return found;
  }
  return nullptr;
}

// Runs the destructor with the lock released: it may register another one, or
// take locks that the host holds while it calls Berth.
void run(std::unique_lock<std::mutex>& lock, Registration* registration) {
  Running running{registration->dso_handle, state().running};
  state().running = &running;
  lock.unlock();
  registration->destroy(registration->object);
  delete registration;
  lock.lock();
  unlink_node(state().running, &running);
  state().changed.notify_all();
}

// What the C library calls when the thread that owns `exits` ends.
void end_thread(void* exits) {
  auto* thread = static_cast<ThreadExits*>(exits);
  std::unique_lock lock(state().mutex);
  for (;;) {
    if (Registration* latest = take(*thread, [](auto&) { return true; }))
      run(lock, latest);
    else if (thread->running_elsewhere != 0)
      state().changed.wait(lock);
    else
      break;
  }
  unlink_node(state().threads, thread);
  // A thread_local destructor that runs after this one may register again.
  mine = nullptr;
  lock.unlock();
  delete thread;
}

// A forked child has one thread. The objects of the others are memory that
// nothing owns any more; their destructors are not to run.
void keep_only_this_thread() {
  State& s = state();
  s.threads = mine;
  if (mine != nullptr) {
    mine->next = nullptr;
    mine->running_elsewhere = 0;
  }
  s.running = nullptr;
  new (&s.changed) std::condition_variable;  // Its waiters are gone, too.
  s.mutex.unlock();
}

bool follow_forks() {
  return ::pthread_atfork([] { state().mutex.lock(); },
                          [] { state().mutex.unlock(); },
                          keep_only_this_thread) == 0;
}

// This thread's list; null when memory is short.
ThreadExits* my_exits() noexcept {
  static const bool follows_forks = follow_forks();
  if (!follows_forks) return nullptr;
  if (mine != nullptr) return mine;
  auto* exits = new (std::nothrow) ThreadExits;
  if (exits == nullptr) return nullptr;
  if (abi::__cxa_thread_atexit(end_thread, exits, &__dso_handle) != 0) {
    delete exits;
    return nullptr;
  }
  const std::lock_guard lock(state().mutex);
  exits->next = std::exchange(state().threads, exits);
  mine = exits;
  return exits;
}

}  // namespace

void run_thread_exits(AddressRange range) {
  const auto inside = [range](const auto& entry) {
    return range.contains(entry.dso_handle);
  };
  State& s = state();
  std::unique_lock lock(s.mutex);
  for (;;) {
    ThreadExits* thread = s.threads;
    Registration* found = nullptr;
    for (; thread != nullptr; thread = thread->next) {
      found = take(*thread, inside);
      if (found != nullptr) break;
    }
    if (found != nullptr) {
      const int elsewhere = thread == mine ? 0 : 1;
      thread->running_elsewhere += elsewhere;
      run(lock, found);
      thread->running_elsewhere -= elsewhere;
      continue;
    }
    const Running* running = s.running;
    while (running != nullptr && !inside(*running)) running = running->next;
    if (running == nullptr) return;
    s.changed.wait(lock);
  }
}

IgnoreThreadExits::IgnoreThreadExits(AddressRange range) noexcept
    : range_(range), outer_(std::exchange(ignored, &range_)) {}

IgnoreThreadExits::~IgnoreThreadExits() { ignored = outer_; }

}  // namespace berth::library

int berth_thread_atexit(void (*destroy)(void*), void* object,
                        void* dso_handle) {
  using namespace berth::library;  // NOLINT: a C name has no namespace.
  if (ignored != nullptr && ignored->contains(dso_handle)) return 0;
  ThreadExits* exits = my_exits();
  auto* registration =
      new (std::nothrow) Registration{destroy, object, dso_handle, nullptr};
  if (exits == nullptr || registration == nullptr) {
    delete registration;
    return -1;
  }
  const std::lock_guard lock(state().mutex);
  registration->next = std::exchange(exits->latest, registration);
  return 0;
}
