"""Compiled models for the tests of the command."""

import pathlib
import subprocess
import sys

import cases
import pytest
from command import ROOT

NAMES = [
    *cases.SERVED, "two_towers", "mlp", "mlp_external", "mlp_lib_external", "stateful", "unserved",
    "int_div", "conv1d_audio", "indexing", "lstm", "transformer_encoder",
]  # fmt: skip


@pytest.fixture(scope="session")
def models() -> pathlib.Path:
    out = ROOT / "build" / "models"
    subprocess.run(
        [sys.executable, ROOT / "tests/models/make.py", "--out", out, *NAMES], check=True
    )
    return out
