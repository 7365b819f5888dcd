"""Models that people deploy, against what eager PyTorch answered."""

import cases
import numpy as np
import pytest

import berth


@pytest.mark.parametrize("name", cases.SERVED)
def test_results_are_those_of_eager(package_path, name):
    path = package_path(name)
    inputs = [np.load(file) for file in cases.arrays(path.parent, "in")]
    expected = [np.load(file) for file in cases.arrays(path.parent, "out")]
    with berth.load(path) as model:
        found = model.run(inputs)
    assert len(found) == len(expected) > 0
    for each, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(each, right, rtol=1e-4, atol=1e-5)


def test_operators_that_are_missing_are_named(package_path):
    with pytest.raises(berth.UnsupportedError, match="'_cdist_backward'"):
        berth.load(package_path("unserved"))
