// The exported Berth_* functions of sleef.h. Each jumps through its slot, with
// all argument registers untouched, so one shape serves every vector width.

#define BERTH_SLEEF(name)              \
    .globl Berth_##name;               \
    .type Berth_##name, @function;     \
    .p2align 4;                        \
Berth_##name:                          \
    endbr64;                           \
    jmp *.Lslot_##name(%rip);          \
    .size Berth_##name, . - Berth_##name;

    .text
#include "shim/sleef.inc"
#undef BERTH_SLEEF

// What slots hold before they are bound. A library is bound before it is
// mapped, so nothing gets here; it returns its argument rather than crash.
    .p2align 4
unbound:
    endbr64
    ret

    .data
    .globl berth_sleef_slots
    .hidden berth_sleef_slots
    .type berth_sleef_slots, @object
    .p2align 3
berth_sleef_slots:
    .quad unbound
#define BERTH_SLEEF(name) .Lslot_##name: .quad unbound;
#include "shim/sleef.inc"
    .size berth_sleef_slots, . - berth_sleef_slots

    .section .note.GNU-stack, "", @progbits
