"""Operators that work along one dimension, beside torch's."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from shim import ShimError, call, optional, same

FLOATS = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
REALS = [*FLOATS, torch.int64, torch.int32, torch.uint8, torch.bool]
TOLERANCE = {torch.bfloat16: 2e-2, torch.float16: 2e-3}


def made(sizes, dtype, layout="contiguous"):
    """Random elements with many equal ones, in memory of that layout."""
    values = torch.randint(-4, 5, sizes).to(torch.float32) / 2
    if dtype in (torch.uint8, torch.bool):
        values = values.abs()
    values = values.to(dtype)
    if layout == "transposed" and len(sizes) > 1:
        return values.transpose(0, -1).contiguous().transpose(0, -1)
    if layout == "sliced" and len(sizes) > 0:
        return values.repeat_interleave(2, -1)[..., ::2]
    return values


def agree(found, expected):
    tolerance = TOLERANCE.get(expected.dtype, 1e-5)
    same(found, expected, rtol=tolerance, atol=tolerance)


each_layout = pytest.mark.parametrize("layout", ["contiguous", "transposed", "sliced"])
each_case = pytest.mark.parametrize(
    ("sizes", "dim"), [((), 0), ((0,), 0), ((1,), -1), ((7,), 0), ((3, 0), 1), ((3, 5), 0), ((2, 3, 131), -1), ((4, 2, 3), 1)]
)


@each_layout
@each_case
@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_sums_and_products(name, dtype, sizes, dim, layout):
    x = made(sizes, dtype, layout)
    agree(call(f"cpu_{name}", x, dim, None), getattr(torch, name)(x, dim))


@pytest.mark.parametrize("dtype", [torch.float32, torch.int32, torch.float64])
def test_sums_of_another_dtype(dtype):
    x = made((3, 5), torch.bfloat16)
    agree(call("cpu_cumsum", x, 1, optional(dtype)), torch.cumsum(x, 1, dtype=dtype))


@each_layout
@each_case
@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_running_extremes(name, dtype, sizes, dim, layout):
    x = made(sizes, dtype, layout)
    found = call(f"cpu_{name}", x, dim, outputs=2)
    for each, right in zip(found, getattr(torch, name)(x, dim), strict=True):
        agree(each, right)


def test_running_extremes_keep_nan():
    x = torch.tensor([1.0, float("nan"), 3.0, float("nan"), 0.0])
    for name in ("cummax", "cummin"):
        for each, right in zip(call(f"cpu_{name}", x, 0, outputs=2), getattr(torch, name)(x, 0), strict=True):
            agree(each, right)


@each_layout
@pytest.mark.parametrize("dtype", FLOATS)
def test_log_of_sums(dtype, layout):
    x = made((3, 5, 9), dtype, layout)
    x[0, 0, :3] = -float("inf")
    agree(call("cpu_logcumsumexp", x, 1), torch.logcumsumexp(x, 1))


@each_layout
@each_case
@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("descending", [False, True])
def test_sort(dtype, sizes, dim, layout, descending):
    x = made(sizes, dtype, layout)
    right = torch.sort(x, dim=dim, descending=descending, stable=True)
    for found in (
        call("cpu_sort_stable", x, None, dim, descending, outputs=2),
        call("cpu_sort", x, dim, descending, outputs=2),
    ):
        for each, expected in zip(found, right, strict=True):
            agree(each, expected)


@each_layout
@pytest.mark.parametrize("dtype", REALS[:-1])
@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize(("sizes", "dim", "k"), [((), 0, 1), ((5,), 0, 0), ((5,), 0, 5), ((3, 7), 1, 2), ((7, 3), 0, 3), ((2, 300), -1, 3)])
def test_topk(dtype, sizes, dim, k, layout, largest, ordered):
    x = made(sizes, dtype, layout)
    found = call("cpu_topk", x, k, dim, largest, ordered, outputs=2)
    for each, right in zip(found, torch.topk(x, k, dim, largest, ordered), strict=True):
        agree(each, right)


def test_nan_is_the_largest():
    x = torch.tensor([2.0, float("nan"), -1.0, float("nan"), 7.0])
    for descending in (False, True):
        for each, right in zip(call("cpu_sort", x, 0, descending, outputs=2), torch.sort(x, 0, descending), strict=True):
            agree(each, right)
    agree(call("cpu_topk", x, 3, 0, True, True, outputs=2)[0], torch.topk(x, 3)[0])


@each_layout
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize(("sizes", "dim", "k"), [((), 0, 1), ((5,), 0, 5), ((3, 7), 1, 2), ((7, 3), 0, 3)])
def test_kthvalue(sizes, dim, k, layout, keep):
    x = made(sizes, torch.float32, layout)
    values, indices = call("cpu_kthvalue", x, k, dim, keep, outputs=2)
    agree(values, torch.kthvalue(x, k, dim, keep)[0])
    picked = x if x.dim() == 0 else torch.gather(x, dim, indices if keep else indices.unsqueeze(dim))
    assert torch.equal(picked.reshape(-1), values.reshape(-1))


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("cumsum", (2, None)), ("cumprod", (-3, None)), ("cummax", (5,)), ("sort", (2, False)),
        ("topk", (4, 1, True, True)), ("topk", (-1, 1, True, True)), ("kthvalue", (0, 1, False)),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(name, args):
    with pytest.raises(ShimError):
        call(f"cpu_{name}", torch.zeros(2, 3), *args, outputs=1 if name.startswith("cum") else 2)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=4), st.data())
def test_any_shape_sorts(sizes, data):
    dim = data.draw(st.integers(-len(sizes), len(sizes) - 1))
    order = data.draw(st.permutations(range(len(sizes))))
    x = made([sizes[d] for d in order], torch.float32).permute([order.index(d) for d in range(len(sizes))])
    for each, right in zip(call("cpu_sort", x, dim, True, outputs=2), torch.sort(x, dim, True), strict=True):
        agree(each, right)
