"""Compiled models, for the tests of the Python package."""

import functools
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def made():
    """Gives the folder that holds the fixtures of those names.

    BERTH_MODELS names a folder of ready ones, for Pythons that have no torch.
    """
    given = os.environ.get("BERTH_MODELS")

    def folder(*names: str) -> pathlib.Path:
        if given:
            return pathlib.Path(given)
        out = ROOT / "build" / "models"
        make = [sys.executable, ROOT / "tests/models/make.py", "--out", out, *names]
        subprocess.run(make, check=True)
        return out

    return folder


@pytest.fixture(scope="session")
def package_path(made):
    """Gives the path of a fixture's package, by the fixture's name."""
    return functools.cache(lambda name: made(name) / name / "model.pt2")


@pytest.fixture(scope="session")
def load(package_path):
    """Loads a fixture's package once."""
    import berth

    return functools.cache(lambda name: berth.load(package_path(name)))
