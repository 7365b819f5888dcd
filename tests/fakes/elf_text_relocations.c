/* Wants its code patched while it is mapped. */
int AOTInductorModelContainerRun(void) { return 0; }

__asm__(".text\n.quad AOTInductorModelContainerRun\n");
