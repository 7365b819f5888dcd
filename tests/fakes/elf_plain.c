/* One relocation of every common kind, a thread-local variable, and imports
   that the C library has. */
#include <stdlib.h>

_Thread_local int per_thread = 3;
int number = 7;
int* pointer_to_number = &number;
static int hidden;
int* pointer_to_hidden = &hidden;

int AOTInductorModelContainerRun(void) {
  return number + per_thread + (getenv("BERTH_ELF_PLAIN") != NULL);
}

extern void somewhere_else(void) __attribute__((weak));

int has_somewhere_else(void) { return somewhere_else != 0; }

static int chosen(void) { return 1; }
static int (*choose(void))(void) { return chosen; }
int dispatched(void) __attribute__((ifunc("choose")));
