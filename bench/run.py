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
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHAPE = ("2", "64")
TITLES = {
    "start_ms": "process start to first result, ms",
    "resident_mb": "resident memory, MB",
    "call_us": "one call, us",
}
# What is held, as multiples of Berth's own figure.
CLAIMS = {
    "C++": {"start_ms": 40, "resident_mb": 50, "call_us": 2.5},
    "Python": {"start_ms": 10, "resident_mb": 10, "call_us": 2.5},
}


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


def compare(peers: dict[str, list[str]], runs: int) -> dict[str, dict[str, float]]:
    """Medians of both, and torch's as multiples of Berth's."""
    for command in peers.values():  # Page caches and the like.
        measure(command)
    results: dict[str, list[dict[str, float]]] = {name: [] for name in peers}
    for _ in range(runs):
        for name, command in peers.items():
            results[name].append(measure(command))
    if abs(results["berth"][0]["first"] - results["torch"][0]["first"]) > 1e-5:
        raise SystemExit("the peers disagree about the result")
    found = {
        name: {key: statistics.median(each[key] for each in of_peer) for key in TITLES}
        for name, of_peer in results.items()
    }
    found["ratio"] = {key: found["torch"][key] / found["berth"][key] for key in TITLES}
    return found


def show(language: str, found: dict[str, dict[str, float]]) -> None:
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
        [pathlib.Path(sys.executable).parent / "cmake", "--build", build, "--target", "torch_peer", "berth_peer"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    # Where Python's peer finds Berth.
    os.environ |= {"PYTHONPATH": str(ROOT / "python"), "BERTH_LIBRARY_DIR": str(build / "lib")}
    work = [str(models / "mlp_lib/model.pt2"), *SHAPE]
    python = [sys.executable, str(ROOT / "bench/python_peer.py")]
    peers = {
        "C++": {name: [str(build / f"bin/{name}_peer"), *work] for name in ("berth", "torch")},
        "Python": {name: [*python, name, *work] for name in ("berth", "torch")},
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
