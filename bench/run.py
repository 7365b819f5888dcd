"""Berth beside torch's AOTInductor loaders, on the same package of a small MLP.

Starts each peer as a process of its own, in turns, and compares medians:
cold start to the first result, resident memory, time of a call. Fails when a
ratio falls below what docs/benchmarks.md says is held. All use one thread.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHAPE = ("2", "64")
Figures = dict[str, float]
TITLES = {
    "start_ms": "process start to first result, ms",
    "resident_mb": "resident memory, MB",
    "call_us": "one call, us",
}
# What is held, as multiples of Berth's own figure.
CLAIMS = {
    "C++": {"start_ms": 30, "resident_mb": 50, "call_us": 1.8},
    # The command beside the program on libtorch; its process also reads and writes files.
    "berth run": {"start_ms": 20, "resident_mb": 30, "call_us": 2},
    "Python": {"start_ms": 10, "resident_mb": 10, "call_us": 2.5},
}


def measure(command: list[str]) -> Figures:
    """One process from its start to its end."""
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    start = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        first = process.stdout.readline()
        start_ms = (time.perf_counter() - start) * 1e3
        rest = process.stdout.read()
    if process.returncode != 0 or not first.startswith("first "):
        raise SystemExit(f"{command[0]} failed with status {process.returncode}")
    figures = json.loads(rest)
    return {
        "start_ms": start_ms,
        "resident_mb": figures["resident_bytes"] / 1e6,
        "call_us": figures["call_us"],
        "first": float(first.split()[1]),
    }


def measure_command(command: list[str]) -> Figures:
    """`berth run`: one process to the end of its first run, one that repeats it."""
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    with tempfile.TemporaryDirectory() as folder:
        x = pathlib.Path(folder) / "x.npy"
        np.save(x, np.full([int(size) for size in SHAPE], 0.5, np.float32))
        command = [*command, "--input", str(x), "--json"]
        start = time.perf_counter()
        subprocess.run(
            [*command, "--output", folder], env=environment, check=True, stdout=subprocess.DEVNULL
        )
        start_ms = (time.perf_counter() - start) * 1e3
        first = float(np.load(pathlib.Path(folder) / "out0.npy").flat[0])
        report = json.loads(
            subprocess.check_output([*command, "--repeat", "10000"], env=environment)
        )
    return {
        "start_ms": start_ms,
        "resident_mb": report["resident_bytes"] / 1e6,
        "call_us": report["median_run_us"],
        "first": first,
    }


def compare(peers: dict[str, Callable[[], Figures]], runs: int) -> dict[str, Figures]:
    """Medians of both, and torch's as multiples of Berth's."""
    for once in peers.values():  # Page caches and the like.
        once()
    results: dict[str, list[Figures]] = {name: [] for name in peers}
    for _ in range(runs):
        for name, once in peers.items():
            results[name].append(once())
    if abs(results["berth"][0]["first"] - results["torch"][0]["first"]) > 1e-5:
        raise SystemExit("the peers disagree about the result")
    found = {
        name: {key: statistics.median(each[key] for each in of_peer) for key in TITLES}
        for name, of_peer in results.items()
    }
    found["ratio"] = {key: found["torch"][key] / found["berth"][key] for key in TITLES}
    return found


def show(language: str, found: dict[str, Figures]) -> None:
    print(f"{language:<36}{'Berth':>10}{'torch':>10}{'ratio':>9}{'held':>9}")
    for key, title in TITLES.items():
        print(
            f"{title:<36}{found['berth'][key]:>10.2f}{found['torch'][key]:>10.2f}"
            f"{found['ratio'][key]:>8.1f}x{CLAIMS[language][key]:>8}x"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/release", type=pathlib.Path)
    parser.add_argument("--models", default="build/models", type=pathlib.Path)
    parser.add_argument("--runs", default=7, type=int)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    build = (ROOT / options.build).resolve()
    models = (ROOT / options.models).resolve()
    subprocess.run(
        [sys.executable, ROOT / "tests/models/make.py", "--out", models, "mlp_lib"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    subprocess.run(
        [pathlib.Path(sys.executable).parent / "cmake", "--build", build, "--target", "torch_peer", "berth_peer", "berth"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    # Where Python's peer finds Berth.
    os.environ |= {"PYTHONPATH": str(ROOT / "python"), "BERTH_LIBRARY_DIR": str(build / "lib")}
    model = str(models / "mlp_lib/model.pt2")

    def peer(*command: str) -> Callable[[], Figures]:
        return lambda: measure([*command, model, *SHAPE])

    torch_peer = peer(str(build / "bin/torch_peer"))
    python = [sys.executable, str(ROOT / "bench/python_peer.py")]
    peers = {
        "C++": {"berth": peer(str(build / "bin/berth_peer")), "torch": torch_peer},
        "berth run": {
            "berth": lambda: measure_command([str(build / "bin/berth"), "run", model]),
            "torch": torch_peer,
        },
        "Python": {name: peer(*python, name) for name in ("berth", "torch")},
    }
    found = {language: compare(pair, options.runs) for language, pair in peers.items()}
    kept = all(
        found[language]["ratio"][key] >= claim
        for language, claims in CLAIMS.items()
        for key, claim in claims.items()
    )
    if options.json:
        print(json.dumps({"found": found, "kept": kept}))
        return 0 if kept else 1
    print(f"small MLP, batch {SHAPE[0]}, one thread, median of {options.runs} processes")
    for language, figures in found.items():
        show(language, figures)
    print("all claims kept" if kept else "A CLAIM IS NOT KEPT")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
