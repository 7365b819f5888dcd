"""Libraries whose bytes depend on the model and the compiler only.

A library as torch builds it holds the absolute path of its generated source
(from assertions in the wrapper), the path of torch's headers, debug information
and a build id. The first differs between any two builds, which would give two
equal partitions two keys. Here the paths are mapped away while compiling, and
what is left of them is stripped.
"""

from __future__ import annotations

import contextlib
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import torch
from torch._inductor import cpp_builder

_SITE_PACKAGES = Path(torch.__file__).parents[1]


@contextlib.contextmanager
def mapped_paths(build_dir: str) -> Iterator[None]:
    """Compiles with `build_dir` and torch's location left out of the output.

    Torch has no setting for extra compiler flags. The map of torch's location
    is in every command, so that precompiled headers made with it are found
    again; the map of the build directory only in commands that write there.
    """
    builder = cpp_builder.CppBuilder
    original = builder.get_command_line

    def get_command_line(self: cpp_builder.CppBuilder) -> str:
        flags = [f"-ffile-prefix-map={_SITE_PACKAGES}/="]
        if self._output_dir.startswith(build_dir):
            flags.append(f"-ffile-prefix-map={build_dir}/=")
            # A source's name holds a hash of the command, so of paths: it is
            # left with its ending. The compiler takes the last map that fits.
            for source in sorted(Path(build_dir).glob("*.cpp")):
                ending = source.name.partition(".")[2]
                flags.append(f"-ffile-prefix-map={source}={ending}")
        return f"{original(self)} {shlex.join(flags)}"

    builder.get_command_line = get_command_line
    try:
        yield
    finally:
        builder.get_command_line = original


def strip_library(path: str) -> None:
    """Removes debug information, local symbols and the build id, in place."""
    # The build id was computed before stripping and names a file that exists
    # nowhere; compiler and linker versions (.comment) are of no use either.
    command = ["strip", "--strip-unneeded"]
    command += ["-R", ".note.gnu.build-id", "-R", ".comment", path]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise RuntimeError(
            "stripping a library needs `strip` (binutils) on the PATH;"
            " install it or export with keep_debug=True"
        ) from error
    if done.returncode != 0:
        raise RuntimeError(f"strip refused {path}: {done.stderr.strip()}")
