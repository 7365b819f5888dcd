// Registers a thread's destructor with the C library itself, past the function
// that Berth serves.
extern void* __dso_handle __attribute__((visibility("hidden")));
extern int __cxa_thread_atexit_impl(void (*)(void*), void*, void*);

static void nothing(void* object) { (void)object; }

__attribute__((visibility("default"))) void leave_to_the_c_library(void) {
  __cxa_thread_atexit_impl(nothing, 0, &__dso_handle);
}
