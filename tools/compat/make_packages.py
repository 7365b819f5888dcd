"""Makes packages with several versions of torch, to see where they differ.

    python tools/compat/make_packages.py --out DIR [version ...]

Not a part of the tests: each version is installed into a throw-away environment of
several GB, one after the other, which takes minutes and the network. `newest` as a
version means the newest that pip finds. Leaves behind DIR/<version>/<case>/ with
the package, its inputs, what eager torch answers, and facts.json; prints at the end
a table, for docs/compatibility.md, of all the versions in DIR.

The wheels of torch cannot be imported without the CUDA packages that they name,
for their libtorch_python.so is linked with CUDA's libraries. So all is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import facts
import table

# What docs/compatibility.md speaks of: the oldest, those in between, the newest.
VERSIONS = ("2.9.1", "2.11.0", "2.13.0", "2.15.0")
CASES = ("default", "external", "entries", "multi", "mutates")
# Torch imports setuptools while compiling, and the cases write NumPy's files.
BESIDE_TORCH = ("numpy", "setuptools")
CASE_SECONDS_MOST = 1800

_WORKER = Path(__file__).resolve().with_name("make_cases.py")
_ASK_VERSION = "import importlib.metadata as m; print(m.version('torch'))"


def compiler() -> str:
    """The first line of what the compiler that torch will use says of itself."""
    command = [os.environ.get("CXX", "g++"), "--version"]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    return said.stdout.splitlines()[0]


def install(version: str, folder: Path, variables: dict[str, str]) -> Path:
    """An environment with this torch; returns its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    torch = "torch" if version == "newest" else f"torch=={version}"
    # Nothing is kept: these gigabytes are wanted once.
    command = [python, "-m", "pip", "install", "--quiet", "--no-cache-dir"]
    subprocess.run([*command, torch, *BESIDE_TORCH], check=True, env=variables)
    return python


def make_case(python: Path, name: str, out: Path, variables: dict[str, str]) -> Any:
    """Runs the worker for one case; what goes wrong there is a finding."""
    out.mkdir(parents=True)
    command = [python, _WORKER, name, out]
    try:
        ran = subprocess.run(
            command,
            env=variables,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=CASE_SECONDS_MOST,
        )
    except subprocess.TimeoutExpired as error:
        return {"error": str(error)}
    made = out / "made.json"
    if not made.exists():
        return {"error": f"ended with {ran.returncode}", "said": ran.stderr[-2000:]}
    found = json.loads(made.read_text(encoding="utf-8"))
    made.unlink()
    if "error" in found:
        found["said"] = ran.stderr[-2000:]
    return found


def make_version(version: str, out: Path) -> None:
    """All cases of one version, in an environment that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="berth-compat-") as scratch:
        # pip and torch unpack and compile here, and so leave nothing elsewhere.
        variables = {
            **{k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
            "TMPDIR": scratch,
            "TORCHINDUCTOR_CACHE_DIR": f"{scratch}/inductor",
        }
        started = time.monotonic()
        python = install(version, Path(scratch) / "environment", variables)
        seconds = round(time.monotonic() - started, 1)
        asked = [python, "-c", _ASK_VERSION]
        name = subprocess.run(asked, capture_output=True, text=True, check=True)
        version = name.stdout.strip()
        print(f"[{version}] installed ... {seconds:.0f} s", flush=True)
        common = {"g++": compiler(), "install_seconds": seconds}
        shutil.rmtree(out / version, ignore_errors=True)
        for case in CASES:
            folder = out / version / case
            found = {**common, **make_case(python, case, folder, variables)}
            package = folder / "model.pt2"
            if "error" not in found:
                found.update(facts.describe(package))
            text = json.dumps(found, indent=2)
            (folder / "facts.json").write_text(text + "\n", encoding="utf-8")
            end = found.get("error", f"{found.get('seconds')} s")
            print(f"[{version}] {case} ... {end}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Packages of several torch versions.")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("versions", nargs="*", metavar="version", default=VERSIONS)
    options = parser.parse_args()
    failed = []
    for version in options.versions:
        try:
            make_version(version, options.out.resolve())
        except subprocess.CalledProcessError as error:
            print(f"[{version}] failed: {error}", file=sys.stderr)
            failed.append(version)
    print(table.render(options.out))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
