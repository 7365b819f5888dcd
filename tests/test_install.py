"""An outside project finds the installed Berth, and the README's examples run."""

import os
import pathlib
import subprocess
import sys

import numpy
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("BERTH_BUILD", ROOT / "build/release"))


@pytest.fixture(scope="session")
def consumer(tmp_path_factory) -> pathlib.Path:
    """The examples, built by a project that knows only the installed files."""
    root = tmp_path_factory.mktemp("consumer")
    run = lambda *words: subprocess.run(words, check=True, capture_output=True, text=True)
    run("cmake", "--install", BUILD, "--prefix", root / "berth")
    (site,) = ROOT.glob(".venv/lib/python3*/site-packages/executorch")
    run(
        "cmake", "-S", ROOT / "tests/consumer", "-B", root / "build", "-G", "Ninja",
        f"-DCMAKE_PREFIX_PATH={root / 'berth'};{site}", f"-DEXAMPLES={ROOT / 'examples'}",
    )  # fmt: skip
    run("cmake", "--build", root / "build")
    return root


def first_number(program: pathlib.Path, model: pathlib.Path) -> float:
    done = subprocess.run([program, model], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("20 numbers, the first is ")
    return float(done.stdout.split()[-1])


def test_an_outside_program_runs_a_library_and_a_program(consumer, models):
    # One model in two forms, on the same input: a half everywhere.
    library = first_number(consumer / "build/run_library", models / "mlp_lib/model.so")
    assert numpy.isfinite(library) and library != 0
    program = first_number(consumer / "build/run_program", models / "mlp/model.pte")
    assert program == pytest.approx(library, abs=1e-5)


def test_the_installed_command_runs(consumer, models):
    done = subprocess.run(
        [
            consumer / "berth/bin/berth", "run", models / "mlp/model.pte",
            "--input", models / "mlp/in0.npy", "--expect", models / "mlp/out0.npy",
        ],
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "agrees" in done.stdout


def test_the_readmes_python_start_runs(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", ROOT / "examples/quickstart.py"],
        cwd=tmp_path,
        env=dict(os.environ, PYTHONPATH=str(ROOT / "python")),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
