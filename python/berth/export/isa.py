"""Which instruction set a delegate is compiled for.

Torch tunes for the CPU that exports: -march=native, and extensions of AVX512
that it finds there. A library then uses instructions that its recorded name
does not tell. Berth compiles for the portable level that belongs to the name: a
library marked AVX2 runs on every CPU with the level x86-64-v3, wherever it was
exported, and the exporting CPU need not have it.
"""

from __future__ import annotations

import contextlib
import platform
from collections.abc import Iterator

from torch._inductor import cpu_vec_isa

# Code without explicit vector instructions.
_SCALAR = "SCALAR"
_X86 = platform.machine() in ("x86_64", "AMD64")
# Best first.
_LEVELS = {"AVX512": "x86-64-v4", "AVX2": "x86-64-v3", _SCALAR: "x86-64"}


def _name(isa: cpu_vec_isa.VecISA) -> str:
    return _SCALAR if isa is cpu_vec_isa.invalid_vec_isa else str(isa).upper()


def host_instruction_set() -> str:
    """The name of the best instruction set that the exporting CPU has."""
    if not _X86:
        return _name(cpu_vec_isa.pick_vec_isa())
    found = {flag.upper() for flag in cpu_vec_isa.x86_isa_checker()}
    return next((name for name in _LEVELS if name in found), _SCALAR)


def resolve(name: str) -> cpu_vec_isa.VecISA:
    """Torch's object for the instruction set called `name`."""
    known = cpu_vec_isa.supported_vec_isa_list
    if not _X86:
        known = cpu_vec_isa.valid_vec_isa_list()
    choices = [*known, cpu_vec_isa.invalid_vec_isa]
    if _X86:
        choices = [isa for isa in choices if _name(isa) in _LEVELS]
    for isa in choices:
        if _name(isa) == name.upper():
            return isa
    names = ", ".join(map(_name, choices))
    raise ValueError(f"instruction_set {name!r} is none of: {names}")


def march(name: str) -> str | None:
    """The compiler's -march value for an instruction set; None leaves torch's."""
    return _LEVELS[name.upper()] if _X86 else None


def _untried(isa: cpu_vec_isa.VecISA) -> cpu_vec_isa.VecISA:
    # Torch asks an instruction set whether it works by building a library,
    # loading it, and adding what else the CPU can do. Under the exporter's
    # settings that library lacks libtorch's symbols, fails to load, and the
    # failure stays in torch's cache on disk. Here the answer is known.
    base = type(isa)
    body = {"__bool__": lambda self: True, "__hash__": base.__hash__}
    return type(base.__name__, (base,), body)()


@contextlib.contextmanager
def compiling_for(name: str) -> Iterator[None]:
    """Makes torch generate code for `name` while the context is open.

    Torch's own setting (cpp.simdlen) chooses by width, which cannot tell AVX512
    from AVX512 with AMX; so the list that it chooses from is replaced.
    """
    isa = resolve(name)
    chosen = [] if isa is cpu_vec_isa.invalid_vec_isa else [_untried(isa)]
    original = cpu_vec_isa.valid_vec_isa_list
    cpu_vec_isa.valid_vec_isa_list = lambda: chosen
    try:
        picked = _name(cpu_vec_isa.pick_vec_isa())
        if picked != _name(isa):
            raise ValueError(
                f"instruction_set is {name!r}, but ATEN_CPU_CAPABILITY or cpp.simdlen"
                f" makes torch choose {picked!r} in this process"
            )
        yield
    finally:
        cpu_vec_isa.valid_vec_isa_list = original
