"""Registers Berth's backend with executorch's Python runtime.

    import berth.executorch
    from executorch.runtime import Runtime

    program = Runtime.get().load_program("two_towers.pte")

Importing this module imports executorch's runtime (and so torch, which that
needs) and opens Berth's shared library beside it. The library is found in the
directory that the environment variable BERTH_LIBRARY_DIR names, else in this
package's own `lib`.
"""

import ctypes
import os

# Loads libexecutorch.so, whose registry the library below finds by its name.
from executorch.extension.pybindings import portable_lib as _runtime

from berth import _libraries

BACKEND_NAME = "BerthBackend"
_LIBRARY_NAME = "libberth_executorch.so.0"


def _register() -> None:
    # RTLD_LOCAL: none of Berth's names reach the process but those that
    # delegates need, which Berth itself sees to when the first one is loaded.
    path = _libraries.find(
        _LIBRARY_NAME,
        "berth-runtime has it when it was built where ExecuTorch's SDK was found",
    )
    try:
        ctypes.CDLL(os.fspath(path), mode=os.RTLD_NOW | os.RTLD_LOCAL)
    except OSError as error:
        raise ImportError(f"cannot open {_LIBRARY_NAME}: {error}") from error
    if BACKEND_NAME not in _runtime._get_registered_backend_names():
        raise ImportError(
            f"executorch's runtime did not take {BACKEND_NAME}; its registered"
            f" backends are {_runtime._get_registered_backend_names()}"
        )


_register()
