"""Makes the compiled models that tests run.

    python tests/models/make.py --out DIR [name ...]

A model takes 15 seconds to compile, so results are kept in $BERTH_CACHE (by
default ~/.cache/berth/models; set it to nothing to keep none) under a hash of
all that they come from: these scripts, the exporter, torch, executorch, the C++
compiler and the CPU. Two runs at once do the work twice, and both end well.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib.metadata
import logging
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_PYTHON = _HERE.parents[1] / "python"
_FIXTURES = ("fixtures.py", "packages.py", "calls.py", "surveyed.py")


def cache_key() -> str:
    """A hash of everything that a fixture's bytes depend on."""
    digest = hashlib.sha256()
    for folder in (_HERE, _PYTHON / "berth" / "export"):
        for source in sorted(folder.glob("*.py")):
            digest.update(source.name.encode() + source.read_bytes())
    for package in ("torch", "executorch"):
        digest.update(importlib.metadata.version(package).encode())
    compiler = os.environ.get("CXX", "g++")
    version = subprocess.run([compiler, "--version"], capture_output=True, check=True)
    digest.update(version.stdout)
    # Plain libraries are tuned for this very CPU.
    cpu = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    digest.update(" ".join(re.findall(r"^flags.*$", cpu, re.MULTILINE)[:1]).encode())
    return digest.hexdigest()[:20]


@contextlib.contextmanager
def cache_folder() -> Iterator[Path]:
    """The folder of finished fixtures; a temporary one where none is wanted."""
    given = os.environ.get("BERTH_CACHE")
    if given == "":
        with tempfile.TemporaryDirectory(prefix="berth-models-") as folder:
            yield Path(folder)
        return
    root = Path(given) if given else Path.home() / ".cache" / "berth" / "models"
    folder = root / cache_key()
    folder.mkdir(parents=True, exist_ok=True)
    yield folder


def build(name: str, folder: str) -> float:
    """Makes one fixture in `folder`, whole or not at all; returns the seconds."""
    started = time.monotonic()
    sys.path[:0] = [str(_PYTHON), str(_HERE)]
    import calls  # noqa: F401: these add their own to FIXTURES
    import packages  # noqa: F401
    import surveyed  # noqa: F401
    import torch
    from fixtures import FIXTURES

    # Each from the same seed, whatever was made before in this process.
    torch.manual_seed(7)
    staged = tempfile.mkdtemp(dir=folder, prefix=f".{name}-")
    try:
        FIXTURES[name](Path(staged))
        os.chmod(staged, 0o755)
        # Refused where another run was faster: its result is as good.
        with contextlib.suppress(OSError):
            os.rename(staged, Path(folder) / name)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    if not (Path(folder) / name).is_dir():
        raise RuntimeError(f"{name} was made, but could not be moved into {folder}")
    return time.monotonic() - started


def _hush() -> None:
    # Torch warns of its own plans; a worker has nothing else to say.
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)


def names_known() -> list[str]:
    """The fixtures' names, without importing torch."""
    texts = [(_HERE / file).read_text(encoding="utf-8") for file in _FIXTURES]
    return re.findall(r"^@fixture\ndef (\w+)", "\n".join(texts), re.MULTILINE)


def make(
    names: Sequence[str], out: Path, jobs: int = 2, say: Callable[[str], None] = print
) -> None:
    """Puts the fixtures called `names` into folders of these names in `out`."""
    known = names_known()
    if unknown := sorted(set(names) - set(known)):
        there = ", ".join(known)
        raise ValueError(f"no fixture {', '.join(unknown)}; there are {there}")
    out.mkdir(parents=True, exist_ok=True)
    with cache_folder() as folder:
        missing = [name for name in names if not (folder / name).is_dir()]
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(jobs, spawn, initializer=_hush) as pool:
            running = {pool.submit(build, name, str(folder)): name for name in missing}
            for done, future in enumerate(as_completed(running), start=1):
                seconds = future.result()
                say(f"[{done}/{len(missing)}] {running[future]} ... {seconds:.0f} s")
        for name in names:
            # Nothing stays of what an older fixture had more.
            shutil.rmtree(out / name, ignore_errors=True)
            shutil.copytree(folder / name, out / name, dirs_exist_ok=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes the compiled test models.")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--jobs", type=int, default=2, help="compilations at once")
    parser.add_argument("names", nargs="*", metavar="name", help="all when not given")
    options = parser.parse_args()
    try:
        make(options.names or names_known(), options.out, options.jobs)
    except ValueError as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
