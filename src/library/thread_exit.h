// The __cxa_thread_atexit that libraries get from Berth.
//
// The C library's own keeps a library mapped until every thread that registered
// a destructor has ended: dlclose() returns 0 and nothing happens. Berth keeps
// the destructors per library instead and runs them when their thread ends or
// when the library is closed, whichever comes first. After that nothing of the
// library is left to run, and it can go while the thread lives on.
//
// Each thread that has registered keeps Berth itself mapped: closing the shared
// object that holds Berth is not supported.
#pragma once

#include <cstdint>

namespace berth::library {

// The addresses [begin, end) that a library occupies.
struct AddressRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  bool contains(const void* address) const noexcept {
    const auto value = reinterpret_cast<std::uintptr_t>(address);
    return value >= begin && value < end;
  }
};

// Runs the destructors, of all threads, that the library at `range` registered,
// each thread's latest first, until there are none; those that other threads
// are running at the moment are waited for.
// Threads  no thread may be in the library's code, save to run such a
//          destructor; so not to be called from one of them.
void run_thread_exits(AddressRange range);

// While one lives, what the library at `range` registers on this thread is
// dropped: its static destructors run inside dlclose(), and what they leave
// behind could only be run once its code is gone.
class IgnoreThreadExits {
 public:
  explicit IgnoreThreadExits(AddressRange range) noexcept;
  ~IgnoreThreadExits();
  IgnoreThreadExits(const IgnoreThreadExits&) = delete;
  IgnoreThreadExits& operator=(const IgnoreThreadExits&) = delete;

 private:
  const AddressRange range_;
  const AddressRange* const outer_;
};

}  // namespace berth::library

// What the import __cxa_thread_atexit of a re-identified library binds to; the
// C++ ABI defines its arguments. `dso_handle` is an address in the library that
// registers. Returns 0, or -1 when memory is short.
extern "C" __attribute__((visibility("default"))) int berth_thread_atexit(
    void (*destroy)(void*), void* object, void* dso_handle);
