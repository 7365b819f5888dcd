"""What Berth raises.

Each error has the text of its C++ counterpart, and its code: the remedy. Errors
that Python has a class of its own for can be caught as that, too.
"""

from __future__ import annotations

import enum


class Code(enum.IntEnum):
    """What a caller can do about a failure; docs/errors.md says more."""

    INVALID_ARGUMENT = 1
    NOT_FOUND = 2
    CORRUPT = 3
    INCOMPATIBLE = 4
    UNSUPPORTED = 5
    OUT_OF_MEMORY = 6
    SYSTEM = 7
    DELEGATE = 8
    INTERNAL = 9
    BUSY = 10


class Error(RuntimeError):
    """Any failure of Berth's. Of this very class are those of the operating
    system, of the compiled model itself, and Berth's own bugs: see `code`."""

    code: Code = Code.INTERNAL


class InvalidArgumentError(Error, ValueError):
    """Fix the call: these arguments can never work."""

    code = Code.INVALID_ARGUMENT


class NotFoundError(Error, FileNotFoundError):
    """Supply the missing file, model, symbol or constant."""

    code = Code.NOT_FOUND


class CorruptError(Error):
    """Re-create the file: its bytes contradict each other."""

    code = Code.CORRUPT


class IncompatibleError(Error):
    """Re-export: built for another machine, ABI or torch."""

    code = Code.INCOMPATIBLE


class UnsupportedError(Error):
    """Nothing to fix: Berth does not implement this."""

    code = Code.UNSUPPORTED


class OutOfMemoryError(Error, MemoryError):
    """Free memory, then try again."""

    code = Code.OUT_OF_MEMORY


class BusyError(Error):
    """Try again later, or load with more replicas."""

    code = Code.BUSY


_CLASSES = {
    kind.code: kind
    for kind in (
        InvalidArgumentError,
        NotFoundError,
        CorruptError,
        IncompatibleError,
        UnsupportedError,
        OutOfMemoryError,
        BusyError,
    )
}


def make(code: int, text: str) -> Error:
    """The exception for an error of C++'s; the extension module calls this."""
    kind = _CLASSES.get(Code(code), Error)
    error = kind(text)
    error.code = Code(code)
    return error
