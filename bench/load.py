"""What loading a library costs, beside a bare dlopen of the same bytes.

Whoever has a library's bytes must write them to a file and dlopen() it. Berth's
own work is all that it does beyond that: check, identity, binding, and what its
placement and mapping take longer than the plain write and the bare dlopen. Fails
when that exceeds the share that docs/benchmarks.md says is held.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Of writing and opening the library as torch's compiler makes it.
MOST = 0.30
STEPS = ("check", "identity", "placement", "mapping", "binding")


def own_work(medians: dict[str, float], kind: str) -> float:
    """Microseconds beyond writing the bytes and opening them."""
    total = sum(medians[f"{kind}_{step}"] for step in STEPS)
    return total - medians["bare_write"] - medians["bare_dlopen"]


def report(title: str, medians: dict[str, float]) -> float:
    """Prints a table; returns the share of Berth's own work, in a file."""
    bare = medians["bare_write"] + medians["bare_dlopen"]
    print(f"\n{title}, microseconds")
    print(f"{'':<12}{'file':>9}{'memory':>9}{'bare':>9}")
    beside = {"placement": medians["bare_write"], "mapping": medians["bare_dlopen"]}
    for step in STEPS:
        other = f"{beside[step]:>9.0f}" if step in beside else ""
        print(f"{step:<12}{medians[f'file_{step}']:>9.0f}{medians[f'memory_{step}']:>9.0f}{other}")
    shares = {kind: own_work(medians, kind) / bare for kind in ("file", "memory")}
    print(
        f"{'own work':<12}{own_work(medians, 'file'):>9.0f}{own_work(medians, 'memory'):>9.0f}"
        f"{'':>9}  {shares['file']:.0%} and {shares['memory']:.0%} of {bare:.0f}"
    )
    return shares["file"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/release", type=pathlib.Path)
    parser.add_argument("--models", default="build/models", type=pathlib.Path)
    parser.add_argument("--rounds", default=400, type=int)
    options = parser.parse_args()

    models = (ROOT / options.models).resolve()
    subprocess.run(
        [sys.executable, ROOT / "tests/models/make.py", "--out", models, "mlp_lib"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    library = models / "mlp_lib/model.so"

    def medians(path: pathlib.Path) -> dict[str, float]:
        command = [ROOT / options.build / "bin/load_bench", path, str(options.rounds)]
        return json.loads(subprocess.check_output(command))

    share = report("small MLP as torch compiles it", medians(library))
    if strip := shutil.which("strip"):
        with tempfile.TemporaryDirectory() as folder:
            stripped = pathlib.Path(folder) / "stripped.so"
            subprocess.run([strip, "-s", "-o", stripped, library], check=True)
            report("the same without debug information", medians(stripped))
    kept = share <= MOST
    print(f"\n{'kept' if kept else 'NOT KEPT'}: at most {MOST:.0%} as torch compiles it")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
