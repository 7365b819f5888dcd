"""Arrays on their way into and out of the berth command."""

import numpy
import pytest
from command import berth, run_json


@pytest.mark.parametrize("save", [numpy.savez, numpy.savez_compressed])
def test_an_archive_of_inputs_is_read(models, tmp_path, save):
    folder = models / "mlp"
    save(tmp_path / "in.npz", any_name=numpy.load(folder / "in0.npy"))
    save(tmp_path / "out.npz", numpy.load(folder / "out0.npy"))
    for given in (tmp_path / "in.npz", folder / "in0.npy"):
        for expected in (tmp_path / "out.npz", folder / "out0.npy"):
            report = run_json(folder / "model.pte", "--input", given, "--expect", expected)
            assert report["agrees"]


def test_an_archive_of_outputs_is_written(models, tmp_path):
    folder = models / "mlp"
    arguments = ("run", folder / "model.pte", "--input", folder / "in0.npy", "--output")
    assert berth(*arguments, tmp_path / "made.npz").returncode == 0
    assert berth(*arguments, tmp_path / "made").returncode == 0
    with numpy.load(tmp_path / "made.npz") as made:
        assert made.files == ["arr_0"]
        numpy.testing.assert_array_equal(made["arr_0"], numpy.load(tmp_path / "made/out0.npy"))


def test_arrays_count_as_inputs_in_order(models, tmp_path):
    folder = models / "mlp"
    good = numpy.load(folder / "in0.npy")
    numpy.savez(tmp_path / "two.npz", good, good)
    done = berth("run", models / "mlp_lib/model.so", "--input", tmp_path / "two.npz")
    assert done.returncode == 11 and "takes 1 inputs, found 2" in done.stderr
    done = berth("run", folder / "model.pte", "--input", folder / "in0.npy",
                 "--expect", tmp_path / "two.npz")  # fmt: skip
    assert done.returncode == 11 and "gives 1 outputs, 2 were expected" in done.stderr


def test_a_spoiled_archive_is_told_by_its_entry(models, tmp_path):
    numpy.savez(tmp_path / "in.npz", first=numpy.ones(100, "float32"))
    sound = (tmp_path / "in.npz").read_bytes()
    (tmp_path / "in.npz").write_bytes(sound[:300] + b"?" + sound[301:])
    done = berth("run", models / "mlp/model.pte", "--input", tmp_path / "in.npz")
    assert done.returncode == 13
    assert "entry 'first.npy'" in done.stderr and "checksum is wrong" in done.stderr
