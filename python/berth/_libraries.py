"""Where Berth's shared libraries are, and with them the extension module."""

from __future__ import annotations

import importlib.util
import os
import pathlib


def directory() -> pathlib.Path:
    """What the environment's BERTH_LIBRARY_DIR says, else this package's `lib`."""
    given = os.environ.get("BERTH_LIBRARY_DIR")
    return pathlib.Path(given) if given else pathlib.Path(__file__).parent / "lib"


def find(name: str, why_not: str) -> pathlib.Path:
    """The library of that name; an ImportError says `why_not` where it is missing."""
    path = directory() / name
    if not path.is_file():
        raise ImportError(f"{name} is not in {directory()}; {why_not}")
    return path


def check_native() -> None:
    """Raises an ImportError that is of use where there is no extension module."""
    if importlib.util.find_spec("berth._native") is None:
        raise ImportError(
            f"berth._native is not in {directory()}; install berth-runtime for this"
            " Python, or build Berth and set BERTH_LIBRARY_DIR to its folder of libraries"
        )
