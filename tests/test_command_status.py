"""How the berth command ends: one status for each kind of error.

Not here: Internal, which would be a bug, and Busy, for which the command waits.
"""

import resource
import subprocess

import numpy
import pytest
from command import COMMAND, berth


@pytest.fixture
def broken(models, tmp_path):
    """Files that are wrong in one way each."""
    good = models / "mlp_lib/model.so"
    (tmp_path / "cut.so").write_bytes(good.read_bytes()[:4096])
    # e_machine: AArch64.
    foreign = bytearray(good.read_bytes())
    foreign[18:20] = (183).to_bytes(2, "little")
    (tmp_path / "foreign.so").write_bytes(foreign)
    expected = numpy.load(models / "mlp_lib/out0.npy")
    numpy.save(tmp_path / "wrong.npy", expected + 1)
    divisor = numpy.load(models / "int_div/in1.npy")
    numpy.save(tmp_path / "zero.npy", numpy.zeros_like(divisor))
    return tmp_path


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (0, "run {models}/mlp_lib/model.so --input {models}/mlp_lib/in0.npy"),
        (1, "run {models}/mlp_lib/model.so --input {models}/mlp_lib/in0.npy --expect {broken}/wrong.npy"),
        (2, "run {models}/mlp_lib/model.so --inputs"),
        (11, "run {models}/mlp_lib/model.so"),
        (12, "run {broken}/gone.so"),
        (13, "run {broken}/cut.so"),
        (14, "run {broken}/foreign.so"),
        (15, "run {models}/unserved/model.so"),
        (17, "run {models}/mlp_lib/model.so --placement file --temp-dir /proc/no-such-place"),
        (18, "run {models}/int_div/model.pte --input {models}/int_div/in0.npy {broken}/zero.npy"),
    ],
)
def test_each_kind_has_its_status(models, broken, status, words):
    done = berth(*(word.format(models=models, broken=broken) for word in words.split()))
    assert done.returncode == status, done.stderr
    # Compiled code may write a line of its own before.
    assert done.stderr == "" if status < 2 else done.stderr.splitlines()[-1].startswith("berth: ")


def test_too_little_memory_is_a_kind_of_its_own(models, tmp_path):
    numpy.savez_compressed(tmp_path / "large.npz", numpy.zeros(2**29, "uint8"))
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (2**29, 2**29))
    model = models / "mlp_lib/model.so"
    done = subprocess.run(
        [COMMAND, "run", model, "--input", tmp_path / "large.npz"],
        capture_output=True, text=True, preexec_fn=limit,
    )  # fmt: skip
    assert done.returncode == 16 and done.stderr.startswith("berth: OutOfMemory: ")
