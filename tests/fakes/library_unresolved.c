// Imports a function that nobody has.
int defined_nowhere(void);

__attribute__((visibility("default"))) int answer(void) {
  return defined_nowhere();
}
