// Like a delegate: links libtorch, has a static in an inline function
// (STB_GNU_UNIQUE), a thread_local with a destructor, and asks for an
// executable stack.
#include <cstdlib>
#include <string>

extern "C" int aoti_torch_cpu_elf_probe();

#if defined(__clang__)
// clang makes such a static weak, not unique; delegates are compiled by g++.
extern "C" int shared_counter;
__asm__(
    ".data\n"
    ".globl shared_counter\n"
    ".type shared_counter, @gnu_unique_object\n"
    ".size shared_counter, 4\n"
    ".balign 4\n"
    "shared_counter: .long 0\n"
    ".text\n");
inline int& counter() { return shared_counter; }
#else
inline int& counter() {
  static int value = 0;
  return value;
}
#endif

thread_local std::string last_error;

extern "C" int AOTInductorModelContainerRun() {
  last_error = "a text that is too long to be stored in place, so it is freed";
  return ++counter();
}

extern "C" int probe() { return aoti_torch_cpu_elf_probe(); }

extern "C" const char* setting() { return std::getenv("BERTH_ELF_SETTING"); }
