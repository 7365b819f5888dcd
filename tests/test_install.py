"""An outside project finds the installed Berth, and the README's examples run."""

import os
import pathlib
import shutil
import subprocess
import sys

import numpy
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("BERTH_BUILD", ROOT / "build/release"))


def run(*words) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def build_consumer(folder: pathlib.Path, *prefixes: pathlib.Path, languages="C;CXX") -> pathlib.Path:
    """The examples, built by a project that knows only the installed files."""
    run(
        "cmake", "-S", ROOT / "tests/consumer", "-B", folder, "-G", "Ninja",
        f"-DCMAKE_PREFIX_PATH={';'.join(map(str, prefixes))}",
        f"-DEXAMPLES={ROOT / 'examples'}", f"-DLANGUAGES={languages}",
    )  # fmt: skip
    run("cmake", "--build", folder)
    return folder


@pytest.fixture(scope="session")
def consumer(tmp_path_factory) -> pathlib.Path:
    root = tmp_path_factory.mktemp("consumer")
    run("cmake", "--install", BUILD, "--prefix", root / "berth")
    (site,) = ROOT.glob(".venv/lib/python3*/site-packages/executorch")
    build_consumer(root / "build", root / "berth", site)
    return root


@pytest.fixture(scope="session")
def core(tmp_path_factory) -> pathlib.Path:
    """Where Berth without ExecuTorch and the command is installed."""
    root = tmp_path_factory.mktemp("core")
    run(
        "cmake", "-S", ROOT, "-B", root / "build", "-G", "Ninja",
        "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DBERTH_EXECUTORCH=OFF", "-DBERTH_CLI=OFF",
        "-DBERTH_DEVELOPER=OFF", "-DBERTH_BENCH=OFF",
    )  # fmt: skip
    run("cmake", "--build", root / "build")
    run("cmake", "--install", root / "build", "--prefix", root / "berth")
    return root / "berth"


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
    for file in ("model.so", "model.pt2"):
        package = first_number(consumer / "build/run_package", models / "mlp_lib" / file)
        assert package == pytest.approx(library, abs=1e-5)


@pytest.mark.parametrize("languages", ["C", "C;CXX"])
def test_a_program_needs_no_executorch_where_berth_has_none(core, models, tmp_path, languages):
    build_consumer(tmp_path, core, languages=languages)
    assert not (tmp_path / "run_program").exists()
    found = [first_number(tmp_path / "run_package", models / "mlp_lib/model.pt2")]
    if "CXX" in languages:
        found.append(first_number(tmp_path / "run_library", models / "mlp_lib/model.pt2"))
    assert len(set(found)) == 1 and numpy.isfinite(found[0]) and found[0] != 0


def test_pkg_config_finds_an_installation_that_was_moved(consumer, models, tmp_path):
    moved = tmp_path / "moved"
    shutil.copytree(consumer / "berth", moved, symlinks=True)
    (file,) = moved.glob("**/pkgconfig/berth.pc")
    assert str(consumer) not in file.read_text()
    environment = dict(os.environ, PKG_CONFIG_PATH=str(file.parent))
    ask = lambda *words: subprocess.run(
        ["pkg-config", *words, "berth"],
        check=True, capture_output=True, text=True, env=environment,
    ).stdout.split()  # fmt: skip
    (libdir,) = ask("--variable=libdir")
    assert pathlib.Path(libdir).resolve().is_relative_to(moved.resolve())
    assert ask("--modversion")[0] in (ROOT / "include/berth/version.h").read_text()
    for compiler, source in (
        (("cc", "-std=c99"), "run_package.c"),
        (("c++", "-std=c++20"), "run_library.cpp"),
    ):
        program = tmp_path / source.partition(".")[0]
        flags = [*ask("--cflags", "--libs"), f"-Wl,-rpath,{libdir}"]
        run(*compiler, "-o", program, ROOT / "examples" / source, *flags)
        found = first_number(program, models / "mlp_lib/model.pt2")
        assert numpy.isfinite(found) and found != 0


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


@pytest.mark.parametrize("name", ["call_package", "quickstart"])
def test_the_examples_in_python_agree_with_eager(tmp_path, name):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", ROOT / f"examples/{name}.py"],
        cwd=tmp_path,
        env=dict(os.environ, PYTHONPATH=str(ROOT / "python")),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
