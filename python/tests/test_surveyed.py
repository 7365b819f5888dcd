"""Models that people deploy, against what eager PyTorch answered."""

import itertools
import pathlib

import numpy as np
import pytest

import berth

SERVED = (
    "mlp_lib", "control_pkg", "dtypes_pkg", "gnn", "intdiv", "math_fns", "lstm_decomposed",
    "transformer_encoder_math", "kv_cache_templates",
)  # fmt: skip


def arrays(folder: pathlib.Path, name: str) -> list[np.ndarray]:
    """The fixture's <name>0.npy, <name>1.npy, ..."""
    files = (folder / f"{name}{i}.npy" for i in itertools.count())
    return [np.load(file) for file in itertools.takewhile(pathlib.Path.exists, files)]


@pytest.mark.parametrize("name", SERVED)
def test_results_are_those_of_eager(package_path, name):
    path = package_path(name)
    expected = arrays(path.parent, "out")
    with berth.load(path) as model:
        found = model.run(arrays(path.parent, "in"))
    assert len(found) == len(expected) > 0
    for each, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(each, right, rtol=1e-4, atol=1e-5)


def test_operators_that_are_missing_are_named(package_path):
    with pytest.raises(berth.UnsupportedError, match="'mkldnn_rnn_layer'"):
        berth.load(package_path("lstm"))
