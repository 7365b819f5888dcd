// 4 KiB of thread-local memory, as a library full of scratch buffers has.
static _Thread_local char memory[4096];

__attribute__((visibility("default"))) int fill(int value) {
  for (unsigned i = 0; i < sizeof memory; ++i) memory[i] = (char)value;
  return memory[sizeof memory - 1];
}
