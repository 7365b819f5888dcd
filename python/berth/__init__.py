"""Berth: AOTInductor-compiled models, run without libtorch.

    import berth
    model = berth.load("model.pt2")
    y = model(x)

That needs NumPy only. `berth.export`, which makes programs for ExecuTorch that
Berth runs, needs torch and executorch; `berth.executorch`, which runs them,
executorch. Importing this package alone needs nothing: the extension module is
opened when it is first asked for.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from berth import _libraries
from berth.errors import (
    BusyError,
    Code,
    CorruptError,
    Error,
    IncompatibleError,
    InvalidArgumentError,
    NotFoundError,
    OutOfMemoryError,
    UnsupportedError,
)

if TYPE_CHECKING:
    from berth._native import Package, PackagedFile, PackagedModel, Tensor, TensorSpec
    from berth.model import Model, load

__all__ = [
    "BusyError",
    "Code",
    "CorruptError",
    "Error",
    "IncompatibleError",
    "InvalidArgumentError",
    "Model",
    "NotFoundError",
    "OutOfMemoryError",
    "Package",
    "PackagedFile",
    "PackagedModel",
    "Tensor",
    "TensorSpec",
    "UnsupportedError",
    "load",
]

_NATIVE = "berth._native"
_LATER = {
    "Model": "berth.model",
    "Package": _NATIVE,
    "PackagedFile": _NATIVE,
    "PackagedModel": _NATIVE,
    "Tensor": _NATIVE,
    "TensorSpec": _NATIVE,
    "load": "berth.model",
}

# berth._native is where the libraries are that it needs.
__path__.append(os.fspath(_libraries.directory()))


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'berth' has no attribute {name!r}")
    _libraries.check_native()
    value = getattr(importlib.import_module(_LATER[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
