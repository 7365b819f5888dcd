"""Berth beside torch's C++ AOTInductor loader, on the same small MLP.

Starts each peer as a process of its own, in turns, and compares medians:
cold start to the first result, resident memory, time of a call. Fails when a
ratio falls below what docs/benchmarks.md says is held. Both use one thread.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHAPE = ("2", "64")
# What is held, as multiples of Berth's own figure.
CLAIMS = {"start_ms": 40, "resident_mb": 50, "call_us": 2.5}


def measure(command: list[str]) -> dict[str, float]:
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
    )
    subprocess.run(
        [pathlib.Path(sys.executable).parent / "cmake", "--build", build, "--target", "torch_peer", "berth_peer"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    fixture = models / "mlp_lib"
    peers = {
        "berth": [str(build / "bin/berth_peer"), str(fixture / "model.so"), *SHAPE],
        "torch": [str(build / "bin/torch_peer"), str(fixture / "model.pt2"), *SHAPE],
    }
    for command in peers.values():  # Page caches and the like.
        measure(command)
    runs = {name: [] for name in peers}
    for _ in range(options.runs):
        for name, command in peers.items():
            runs[name].append(measure(command))
    if abs(runs["berth"][0]["first"] - runs["torch"][0]["first"]) > 1e-5:
        raise SystemExit("the peers disagree about the result")

    medians = {
        name: {key: statistics.median(r[key] for r in results) for key in CLAIMS}
        for name, results in runs.items()
    }
    ratios = {key: medians["torch"][key] / medians["berth"][key] for key in CLAIMS}
    kept = all(ratios[key] >= claim for key, claim in CLAIMS.items())
    if options.json:
        print(json.dumps({"medians": medians, "ratios": ratios, "kept": kept}))
        return 0 if kept else 1
    titles = {
        "start_ms": "process start to first result, ms",
        "resident_mb": "resident memory, MB",
        "call_us": "one call, us",
    }
    print(f"small MLP, batch {SHAPE[0]}, one thread, median of {options.runs} processes")
    print(f"{'':<36}{'Berth':>10}{'torch':>10}{'ratio':>9}{'held':>9}")
    for key, title in titles.items():
        print(
            f"{title:<36}{medians['berth'][key]:>10.2f}{medians['torch'][key]:>10.2f}"
            f"{ratios[key]:>8.1f}x{CLAIMS[key]:>8}x"
        )
    print("all claims kept" if kept else "A CLAIM IS NOT KEPT")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
