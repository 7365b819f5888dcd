/* Two imports, one of which is the end of the other: the linker stores "getenv"
   only once. */
char* getenv(const char*);
char* secure_getenv(const char*);

char* AOTInductorModelContainerRun(void) {
  return secure_getenv("A") ? getenv("A") : getenv("B");
}
