"""Convolutions beside torch's, values and strides."""

import math

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shim import ShimError, call, optional, same

# Inductor compiles with several threads, and torch's choice of strides depends
# on that in one corner.
torch.set_num_threads(2)

TOLERANCES = {torch.float32: 1e-4, torch.float64: 1e-9, torch.bfloat16: 2e-2, torch.float16: 3e-3}


def drawn(shape, dtype, seed=0):
    made = torch.randn(shape, generator=torch.Generator().manual_seed(seed + math.prod(shape)))
    return made.mul(1 if dtype.is_floating_point else 9).to(dtype)


def contiguous(x):
    return x


def channels_last(x):
    return x.movedim(1, -1).contiguous().movedim(-1, 1)


def transposed(x):
    return x.transpose(-1, -2).contiguous().transpose(-1, -2)


def sliced(x):
    wide = torch.zeros([2 * size + 1 for size in x.shape], dtype=x.dtype)
    view = wide[tuple(slice(1, 2 * size + 1, 2) for size in x.shape)]
    return view.copy_(x)


def sliced_channels_last(x):
    wide = torch.zeros([x.shape[0], *x.shape[2:], 2 * x.shape[1]], dtype=x.dtype)
    return wide[..., : x.shape[1]].movedim(-1, 1).copy_(x)


def expanded(x):
    return x[:1].expand(x.shape) if x.shape[0] > 0 else x


LAYOUTS = (contiguous, channels_last, transposed, sliced, sliced_channels_last, expanded)


def check(x, w, b=None, stride=1, padding=0, dilation=1, transposed=False, output_padding=0, groups=1):
    """Holds Berth's result to torch's strides, and to values in double."""
    given_ = (stride, padding, dilation, output_padding)
    numbers = [[n] * (x.dim() - 2) if isinstance(n, int) else list(n) for n in given_]
    rest = (*numbers[:3], transposed, numbers[3], groups)
    found = call("cpu_convolution", x, w, optional(b), *rest)
    expected = torch.ops.aten.convolution(x, w, b, *rest)
    wide = [None if t is None else t.double() for t in (x, w, b)]
    exact = torch.ops.aten.convolution(*wide, *rest)
    tolerance = TOLERANCES.get(x.dtype, 0)
    if x.dtype.is_floating_point:
        # Strides are torch's, values need not share its rounding.
        expected.copy_(exact)
    same(found, expected, rtol=tolerance, atol=10 * tolerance)


GRID = {
    # input, weight, and what is not torch's default
    "image": ((2, 3, 9, 11), (5, 3, 3, 3), {"padding": 1}),
    "one image": ((1, 3, 9, 11), (5, 3, 3, 3), {}),
    "pointwise": ((2, 16, 7, 7), (8, 16, 1, 1), {}),
    "strided": ((2, 4, 12, 10), (8, 4, 3, 3), {"stride": 2, "padding": 1}),
    "odd strides": ((2, 4, 12, 10), (8, 4, 3, 2), {"stride": (3, 1), "padding": (0, 2)}),
    "dilated": ((2, 4, 12, 12), (8, 4, 3, 3), {"dilation": 2, "padding": 2}),
    "depthwise": ((2, 6, 8, 8), (6, 1, 3, 3), {"groups": 6, "padding": 1}),
    "multiplied": ((2, 4, 8, 8), (8, 1, 3, 3), {"groups": 4}),
    "grouped": ((2, 6, 8, 8), (4, 3, 3, 3), {"groups": 2}),
    "stem": ((1, 3, 32, 32), (16, 3, 7, 7), {"stride": 2, "padding": 3}),
    "padded beyond": ((2, 2, 3, 3), (3, 2, 2, 2), {"padding": 5}),
    "empty": ((0, 3, 9, 11), (5, 3, 3, 3), {}),
    "one of all": ((1, 1, 1, 1), (1, 1, 1, 1), {}),
    "one channel": ((2, 1, 8, 8), (4, 1, 3, 3), {}),
    "one pixel": ((2, 8, 1, 1), (4, 8, 1, 1), {}),
    "line": ((2, 4, 17), (6, 4, 5), {"padding": 2}),
    "strided line": ((1, 4, 17), (6, 4, 5), {"stride": 3, "dilation": 2}),
    "grouped line": ((2, 4, 17), (6, 2, 3), {"groups": 2}),
    "volume": ((2, 3, 5, 6, 7), (4, 3, 3, 2, 3), {"padding": (1, 0, 1)}),
    "one volume": ((1, 3, 5, 6, 7), (4, 3, 3, 2, 3), {}),
    "large volume": ((1, 3, 5, 40, 40), (4, 3, 3, 5, 5), {}),
    "grouped volume": ((2, 4, 5, 6, 7), (4, 2, 3, 2, 1), {"groups": 2}),
    "turned image": ((2, 4, 7, 6), (4, 3, 3, 3), {"transposed": True, "stride": 2}),
    "turned, padded": (
        (2, 4, 7, 6), (4, 3, 3, 3),
        {"transposed": True, "stride": 2, "padding": 1, "output_padding": (1, 0)},
    ),
    "turned, dilated": (
        (2, 4, 7, 6), (4, 3, 3, 3), {"transposed": True, "dilation": 2, "output_padding": 1},
    ),
    "turned groups": ((2, 4, 7, 6), (4, 3, 2, 2), {"transposed": True, "groups": 2}),
    "turned line": ((2, 4, 9), (4, 3, 4), {"transposed": True, "stride": 2, "padding": 1}),
    "turned volume": ((2, 4, 3, 4, 5), (4, 3, 2, 2, 2), {"transposed": True, "stride": 2}),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", GRID)
def test_float32(name, layout):
    sizes, kernel, rest = GRID[name]
    x, w = drawn(sizes, torch.float32), drawn(kernel, torch.float32, 1)
    channels = kernel[1] * rest.get("groups", 1) if rest.get("transposed") else kernel[0]
    b = drawn((channels,), torch.float32, 2)
    check(layout(x), w, b, **rest)
    check(x, layout(w), None, **rest)
    check(layout(x), layout(w), torch.stack([b, b], 1)[:, 0], **rest)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", GRID)
def test_other_floats(name, dtype):
    sizes, kernel, rest = GRID[name]
    x, w = drawn(sizes, dtype), drawn(kernel, dtype, 1)
    channels = kernel[1] * rest.get("groups", 1) if rest.get("transposed") else kernel[0]
    b = drawn((channels,), dtype, 2)
    for layout in (contiguous, channels_last, sliced):
        check(layout(x), w, b, **rest)
        check(x, layout(w), None, **rest)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64])
@pytest.mark.parametrize("layout", [contiguous, channels_last, sliced])
def test_integers_wrap_as_torchs_do(dtype, layout):
    x, w = drawn((2, 3, 6, 5), dtype), drawn((4, 3, 3, 2), dtype, 1)
    check(layout(x), layout(w), drawn((4,), dtype, 2), 2, 1)


@pytest.mark.parametrize("layout", [contiguous, channels_last])
def test_a_batch_may_be_missing(layout):
    for spatial in (1, 2, 3):
        x = layout(drawn((1, 4, *[7] * spatial), torch.float32))
        w = drawn((3, 4, *[3] * spatial), torch.float32, 1)
        rest = ([1], [1], [1], False, [0], 1)
        found = call("cpu_convolution", x[0], w, optional(None), *rest)
        convolve = getattr(torch.nn.functional, f"conv{spatial}d")
        same(found, convolve(x[0], w, padding=1))


def test_one_number_stands_for_all():
    x, w = drawn((2, 3, 9, 11), torch.float32), drawn((5, 3, 3, 3), torch.float32)
    found = call("cpu_convolution", x, w, optional(None), [2], [1], [1], False, [0], 1)
    same(found, torch.nn.functional.conv2d(x, w, stride=2, padding=1))


def test_channels_that_are_none_give_none():
    x, w = torch.zeros(2, 0, 8, 8), torch.zeros(4, 0, 3, 3)
    rest = ([1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    found = call("cpu_convolution", x, w, optional(None), *rest)
    assert found.shape == torch.ops.aten.convolution(x, w, None, *rest).shape


REFUSED = {
    "rank": ((2, 3), (4, 3), {}),
    "other rank": ((3, 8), (4, 3, 3, 3), {}),
    "channels": ((2, 4, 8, 8), (4, 3, 3, 3), {}),
    "groups": ((2, 4, 8, 8), (5, 2, 3, 3), {"groups": 2}),
    "no groups": ((2, 3, 8, 8), (4, 3, 3, 3), {"groups": 0}),
    "kernel": ((2, 3, 2, 8), (4, 3, 3, 3), {}),
    "no kernel": ((2, 3, 8, 8), (4, 3, 0, 3), {}),
    "no pixels": ((2, 3, 0, 8), (4, 3, 1, 3), {}),
    "no stride": ((2, 3, 8, 8), (4, 3, 3, 3), {"stride": [0, 1]}),
    "strides": ((2, 3, 8, 8), (4, 3, 3, 3), {"stride": [1, 1, 1]}),
    "padding": ((2, 3, 8, 8), (4, 3, 3, 3), {"padding": [-1, 1]}),
    "dilation": ((2, 3, 8, 8), (4, 3, 3, 3), {"dilation": [0, 1]}),
    "output padding": ((2, 3, 8, 8), (3, 4, 3, 3), {"transposed": True, "output_padding": [1, 1]}),
    "bool": ((2, 3, 8, 8), (4, 3, 3, 3), {"dtype": torch.bool}),
    "complex": ((2, 3, 8, 8), (4, 3, 3, 3), {"dtype": torch.complex64}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_torch_refuses(name):
    sizes, kernel, rest = REFUSED[name]
    dtype = rest.get("dtype", torch.float32)
    pair = torch.zeros(sizes, dtype=dtype), torch.zeros(kernel, dtype=dtype), None
    numbers = [rest.get(word, [0 if "pad" in word else 1] * (len(kernel) - 2)) for word in (
        "stride", "padding", "dilation", "output_padding")]  # fmt: skip
    args = (*numbers[:3], rest.get("transposed", False), numbers[3], rest.get("groups", 1))
    with pytest.raises(RuntimeError):
        torch.ops.aten.convolution(*pair, *args)
    with pytest.raises(ShimError):
        call("cpu_convolution", *pair[:2], optional(None), *args)


@st.composite
def convolutions(draw):
    spatial = draw(st.integers(1, 3))

    def each(values):
        return draw(st.lists(st.sampled_from(values), min_size=spatial, max_size=spatial))

    groups = draw(st.sampled_from([1, 1, 2, 3]))
    into, out = (draw(st.sampled_from([1, 2, 5, 16])) for _ in range(2))
    turned = draw(st.booleans())
    kernel, sizes = each([1, 2, 3]), each([4, 5, 9])
    # torch itself fails on a dilated kernel of one element.
    dilation = [1 if n == 1 else d for n, d in zip(kernel, each([1, 1, 2]), strict=True)]
    stride = each([1, 2])
    layouts = draw(st.permutations(LAYOUTS))[:2]
    dtype = draw(st.sampled_from([torch.float32, torch.float32, torch.bfloat16, torch.float64]))
    x = layouts[0](drawn([draw(st.integers(1, 3)), into * groups, *sizes], dtype))
    channels = (into * groups, out) if turned else (out * groups, into)
    w = layouts[1](drawn([*channels, *kernel], dtype, 1))
    b = drawn([out * groups], dtype, 2) if draw(st.booleans()) else None
    return x, w, b, stride, [n // 2 for n in kernel], dilation, turned, [0] * spatial, groups


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(convolutions())
def test_any(arguments):
    check(*arguments)


@pytest.mark.parametrize("batch", [1, 8])
@pytest.mark.parametrize("layout", [contiguous, channels_last])
def test_large(layout, batch):
    x, w = drawn((batch, 64, 28, 28), torch.float32), drawn((96, 64, 3, 3), torch.float32, 1)
    check(layout(x), w, drawn((96,), torch.float32, 2), padding=1)
