"""Fourier transforms beside torch's."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from shim import ShimError, call, same

R2C = torch.ops.aten._fft_r2c
C2C = torch.ops.aten._fft_c2c


def near(found, expected):
    """Single precision is lost in proportion to the largest numbers."""
    narrow = expected.dtype is torch.complex64
    most = float(expected.abs().max()) if expected.numel() else 0.0
    same(found, expected, rtol=1e-4 if narrow else 1e-12, atol=(1e-6 if narrow else 1e-14) * (1 + most))


def check_real(x, dims, norm=0, onesided=True):
    near(call("cpu__fft_r2c", x, list(dims), norm, onesided), R2C(x, list(dims), norm, onesided))


def check_complex(x, dims, norm=0, forward=True):
    near(call("cpu__fft_c2c", x, list(dims), norm, forward), C2C(x, list(dims), norm, forward))


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("lines", [1, 2, 5, 40])
def test_lengths(lines, wide):
    lengths = [*range(1, 40), 49, 64, 61, 67, 100, 121, 128, 134, 210, 256, 400, 509, 1000, 1018, 1024, 4099]
    for length in lengths:
        x = torch.randn(lines, length, dtype=torch.float64 if wide else torch.float32)
        check_real(x, [1])
        check_real(x, [1], onesided=False)
        z = torch.randn(lines, length, dtype=torch.complex128 if wide else torch.complex64)
        check_complex(z, [1])
        check_complex(z, [1], forward=False)


@pytest.mark.parametrize("norm", [0, 1, 2])
def test_normalization(norm):
    for dims in ([2], [0, 1], [1, 2, 0]):
        check_real(torch.randn(4, 6, 10), dims, norm)
        check_complex(torch.randn(4, 6, 10, dtype=torch.complex64), dims, norm, forward=False)


def test_dimensions_and_layouts():
    for order in itertools.permutations(range(3)):
        x = torch.randn(4, 5, 6).permute(order)
        z = torch.randn(4, 5, 6, dtype=torch.complex64).permute(order)
        for count in (1, 2, 3):
            for dims in itertools.permutations(range(3), count):
                check_real(x, dims)
                check_real(x, dims, onesided=False)
                check_complex(z, dims)
    base = torch.randn(6, 20, 9)
    for x in (base[::2], base[:, ::3], base[..., 1::2], base[:, :1].expand(6, 4, 9), base[..., :1].expand(6, 20, 4)):
        for dims in ([0], [1], [2], [1, 2]):
            check_real(x, dims)
            check_complex(torch.complex(x, -x), dims)


def test_many_dimensions_and_few():
    check_complex(torch.randn(3, dtype=torch.complex64), [0])
    check_complex(torch.randn(2, 3, 2, 3, 2, 3, dtype=torch.complex64), [0, 2, 5])
    check_complex(torch.randn((), dtype=torch.complex64), [])
    check_complex(torch.randn(3, 4, dtype=torch.complex64).t(), [])
    check_real(torch.randn(1, 1, 1), [0, 2])


def test_lines_do_not_touch_each_other():
    x = torch.randn(20, 64)
    x[3] *= 1e20
    x[7, 5] = float("nan")
    found, expected = call("cpu__fft_r2c", x, [1], 0, True), R2C(x, [1], 0, True)
    for i in range(20):
        if i != 7:
            near(found[i], expected[i])
    assert found[7].isnan().all()


def test_empty_batches():
    assert call("cpu__fft_r2c", torch.zeros(0, 4), [1], 0, True).shape == (0, 3)
    assert call("cpu__fft_c2c", torch.zeros(4, 0, dtype=torch.complex64), [0], 0, True).shape == (4, 0)


def test_refuses_what_torch_refuses():
    x, z = torch.randn(3, 4), torch.randn(3, 4, dtype=torch.complex64)
    for arguments in (
        (x.half(), [1], 0, True), (x.int(), [1], 0, True), (z, [1], 0, True), (x, [2], 0, True),
        (x, [-1], 0, True), (x, [1, 1], 0, False), (x, [], 0, True), (torch.zeros(4, 0), [1], 0, True),
        (torch.zeros(()), [0], 0, True), (x, [1], 5, True),
    ):  # fmt: skip
        with pytest.raises(ShimError):
            call("cpu__fft_r2c", *arguments)
    for arguments in ((x, [1], 0, True), (z, [1, 1], 0, True), (z, [2], 0, True)):
        with pytest.raises(ShimError):
            call("cpu__fft_c2c", *arguments)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_call(data):
    torch.manual_seed(data.draw(st.integers(0, 1 << 20)))
    ndim = data.draw(st.integers(1, 4))
    sizes = data.draw(st.lists(st.integers(1, 30), min_size=ndim, max_size=ndim))
    order = data.draw(st.permutations(range(ndim)))
    dims = data.draw(st.permutations(range(ndim)))[: data.draw(st.integers(1, min(ndim, 3)))]
    norm, flag = data.draw(st.integers(0, 2)), data.draw(st.booleans())
    dtype = data.draw(st.sampled_from([torch.float32, torch.float64]))
    x = torch.randn(sizes, dtype=dtype).permute(order)
    check_real(x, dims, norm, flag)
    check_complex(torch.complex(x, x.flip(0)), dims, norm, flag)
