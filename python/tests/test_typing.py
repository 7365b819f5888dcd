"""What type checkers see."""

import ast
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

import berth

FACE = pathlib.Path(berth.__file__).parent

SAMPLE = """
import pathlib
from typing import Any

import numpy as np
import numpy.typing as npt

import berth

model: berth.Model = berth.load(pathlib.Path("model.pt2"), replicas=2, when_busy="fail")
with berth.load(berth.Package.open(b"..."), model_name="encoder") as other:
    y: Any = other(np.zeros(3), mask=None)
outputs: list[Any] = model.run([np.zeros(3)])
path: str = model.inputs[0].path
sizes: tuple[tuple[int, int], ...] | None = model.inputs[0].sizes
bits: npt.NDArray[Any] = berth.Tensor.from_bits(np.zeros(3, np.uint16), "bfloat16").bits()
shape: tuple[int, ...] = berth.Tensor.from_bits(bits, "bfloat16").shape
metadata: dict[str, str] = berth.Package.open("model.pt2").find("model").metadata
try:
    model.close()
except berth.BusyError as error:
    code: berth.Code = error.code
except MemoryError:
    pass
"""


def test_the_stub_is_that_of_the_extension_module(tmp_path):
    """Made by `python -m nanobind.stubgen -m berth._native -o berth/_native.pyi`."""
    pytest.importorskip("nanobind")
    out = tmp_path / "_native.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "berth._native", "-o", out]
    subprocess.run(command, check=True)
    kept = (FACE / "_native.pyi").read_text(encoding="utf-8")
    # Versions of the generator differ in blank lines.
    assert ast.dump(ast.parse(kept)) == ast.dump(ast.parse(out.read_text(encoding="utf-8")))


@pytest.mark.parametrize("spoiled", ["", "model.close(now=True)", "x: int = model.inputs"])
def test_a_checker_agrees_with_a_program(tmp_path, spoiled):
    pytest.importorskip("mypy")
    sample = tmp_path / "sample.py"
    sample.write_text(textwrap.dedent(SAMPLE) + spoiled + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", sample]
    # It looks where packages are installed, and not in PYTHONPATH.
    is_installed = FACE.parent.name == "site-packages"
    environment = os.environ | ({} if is_installed else {"MYPYPATH": str(FACE.parent)})
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode == 0) == (spoiled == ""), done.stdout


def test_a_checker_finds_nothing_in_the_package(tmp_path):
    pytest.importorskip("mypy")
    files = [FACE / name for name in ("__init__.py", "model.py", "_pytree.py", "errors.py", "_libraries.py")]
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", *files]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
