"""Attention beside torch's."""

from __future__ import annotations

import itertools
import math
import threading

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from shim import ShimError, call, optional, same

EAGER = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
NEVER = -math.inf
SIZES = [  # Batch, heads, queries, keys, width.
    (1, 1, 1, 1, 1),
    (2, 3, 5, 7, 8),
    (1, 2, 1, 300, 64),
    (2, 2, 2, 130, 33),
    (1, 2, 33, 17, 20),
    (2, 2, 17, 200, 64),
    (1, 1, 130, 129, 3),
    (1, 2, 300, 260, 80),
]


def attend(q, k, v, causal=False, mask=None, scale=None, dropout=0.0):
    return call(
        "cpu__scaled_dot_product_flash_attention_for_cpu",
        q, k, v, float(dropout), causal, optional(mask), optional(scale), outputs=2,
    )  # fmt: skip


def check(q, k, v, causal=False, mask=None, scale=None):
    found = attend(q, k, v, causal, mask, scale)
    # torch takes the elements of a row for neighbors, whatever their stride.
    rows = [each if each.stride(-1) == 1 else each.contiguous() for each in (q, k, v)]
    # torch 2.13 adds a mask of float32 wrongly to scores of float64.
    if mask is not None and q.dtype == torch.float64:
        mask = mask.double()
    expected = list(EAGER(*rows, 0.0, causal, attn_mask=mask, scale=scale))
    if rows[0] is not q:
        expected[0] = torch.empty_like(q).copy_(expected[0])
    narrow = q.dtype in (torch.bfloat16, torch.float16)
    rtol, atol = (2e-2, 2e-2) if narrow else (1e-4, 1e-5)
    for one, other in zip(found, expected, strict=True):
        same(one, other, rtol=rtol, atol=atol)


def operands(sizes, dtype=torch.float32, key_heads=None):
    b, h, s, n, d = sizes
    shapes = (b, h, s, d), (b, key_heads or h, n, d), (b, key_heads or h, n, d)
    return [torch.randn(shape).to(dtype) for shape in shapes]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
def test_sizes(dtype, causal, sizes):
    check(*operands(sizes, dtype), causal)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
def test_masks(dtype, causal, sizes):
    b, h, s, n, _ = sizes
    q, k, v = operands(sizes, dtype)
    for shape in [(s, n), (1, n), (s, 1), (b, h, s, n), (1, h, s, n), (b, 1, 1, n), (1, 1, s, 1)]:
        check(q, k, v, causal, torch.randn(shape).to(dtype))
    # A padding mask, as models make them: of float32 too, and expanded.
    padding = torch.zeros(b, 1, 1, n).masked_fill(torch.rand(b, 1, 1, n) < 0.3, NEVER)
    check(q, k, v, causal, padding)
    check(q, k, v, causal, padding.to(dtype).expand(b, 1, s, n))
    check(q, k, v, causal, torch.full((s, n), torch.finfo(dtype).min, dtype=dtype))
    check(q, k, v, causal, torch.randn(n, s).to(dtype).t())


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_that_see_nothing(dtype):
    q, k, v = operands((2, 2, 40, 150, 16), dtype)
    mask = torch.zeros(40, 150)
    mask[torch.rand(40, 150) < 0.5] = NEVER
    mask[[3, 20, 39]] = NEVER
    mask[5, :140] = NEVER
    check(q, k, v, mask=mask.to(dtype))
    output, normalizer = attend(q, k, v, mask=torch.full((1, 1), NEVER, dtype=dtype))
    assert not output.any() and not normalizer.any()


@pytest.mark.parametrize("scale", [0.0, -0.5, 0.3, 3.0])
def test_scale(scale):
    check(*operands((1, 2, 9, 20, 24)), scale=scale)
    check(*operands((1, 2, 1, 20, 24)), scale=scale)


@pytest.mark.parametrize("heads, key_heads", [(4, 1), (4, 2), (6, 3)])
@pytest.mark.parametrize("queries", [1, 30])
def test_heads_that_share_keys(heads, key_heads, queries):
    q, k, v = operands((2, heads, queries, 40, 16), key_heads=key_heads)
    check(q, k, v)
    check(q, k, v, mask=torch.randn(2, heads, queries, 40))


def layouts(b, h, s, d, dtype):
    """Tensors [b, h, s, d] in every order of dimensions, with gaps and repetitions."""
    for order in itertools.permutations(range(4)):
        base = torch.randn([(b, h, s, d)[i] for i in order]).to(dtype)
        yield base.permute([order.index(i) for i in range(4)])
    yield torch.randn(b, h, s, 2 * d).to(dtype)[..., :d]
    yield torch.randn(b, h, s, 2 * d).to(dtype)[..., ::2]
    yield torch.randn(b, h, 3 * s, d).to(dtype)[:, :, s : 2 * s]
    yield torch.randn(b, s, 3, h, d).to(dtype)[:, :, 1].transpose(1, 2)
    for size in ((1, h, s, d), (b, 1, s, d), (b, h, 1, d), (b, h, s, 1)):
        yield torch.randn(size).to(dtype).expand(b, h, s, d)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sizes", [(2, 3, 5, 8), (2, 2, 18, 24), (1, 3, 1, 64), (2, 1, 1, 1)])
def test_layouts(dtype, sizes):
    for q in layouts(*sizes, dtype):
        k, v = (torch.randn(sizes).to(dtype) for _ in range(2))
        check(q, k, v)
        check(k, q, v)
        check(k, v, q, causal=True)


@pytest.mark.parametrize("sizes", [(0, 2, 3, 4, 8), (2, 2, 3, 4, 0)])
def test_empty(sizes):
    q, k, v = operands(sizes)
    for one, other in zip(attend(q, k, v), EAGER(q, k, v), strict=True):
        assert one.shape == other.shape and one.stride() == other.stride()


@pytest.mark.parametrize("sizes", [(2, 2, 0, 4, 8), (2, 0, 3, 4, 8), (2, 2, 3, 0, 8)])
def test_empty_where_torch_divides_by_zero(sizes):
    q, k, v = operands(sizes)
    output, normalizer = attend(q, k, v)
    assert output.shape == q.shape and normalizer.shape == q.shape[:3]
    assert not output.any() and not normalizer.any()


def test_refuses_what_torch_refuses():
    q, k, v = operands((2, 4, 5, 7, 8))
    for arguments in (
        {"dropout": 0.5},
        {"mask": torch.ones(5, 7, dtype=torch.bool)},
        {"mask": torch.ones(5, 7, dtype=torch.float64)},
        {"mask": torch.ones(4, 5, 7)},
        {"mask": torch.ones(6, 7)},
    ):
        with pytest.raises(ShimError):
            attend(q, k, v, **arguments)
    for wrong in ((q.int(), k.int(), v.int()), (q, k.double(), v), (q[0], k[0], v[0]), (q, k, v[..., :7])):
        with pytest.raises(ShimError):
            attend(*wrong)


def test_long_sequences():
    check(*operands((1, 2, 1500, 1500, 32)), causal=True)


def test_several_threads():
    q, k, v = operands((2, 4, 100, 100, 32))
    expected = attend(q, k, v)
    results = []
    threads = [threading.Thread(target=lambda: results.append(attend(q, k, v))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for result in results:
        assert all(map(torch.equal, result, expected))


@settings(max_examples=60, deadline=None, database=None)
@given(st.data())
def test_any_call(data):
    def number(least: int, most: int) -> int:
        return data.draw(st.integers(least, most))

    torch.manual_seed(number(0, 1 << 20))
    key_heads, group = number(1, 3), number(1, 3)
    b, h, s, n, d = number(1, 3), key_heads * group, number(1, 150), number(1, 150), number(1, 70)
    dtype = data.draw(st.sampled_from(DTYPES))
    sizes = {"b": b, "h": h, "s": s, "n": n}

    def tensor(*shape: int) -> torch.Tensor:
        order = data.draw(st.permutations(range(len(shape))))
        gap = number(1, 2)
        wide = [shape[i] for i in order[:-1]] + [shape[order[-1]] * gap]
        base = torch.randn(wide)[..., ::gap].to(dtype)
        return base.permute([order.index(i) for i in range(len(shape))])

    mask = None
    names = data.draw(st.sampled_from(["", "sn", "bhsn"]))
    if names:
        mask = tensor(*(sizes[name] if number(0, 1) else 1 for name in names))
        if data.draw(st.booleans()):
            mask = mask.float()
        mask = mask.masked_fill(torch.rand(mask.shape) < data.draw(st.sampled_from([0.0, 0.2, 0.9])), NEVER)
    check(
        tensor(b, h, s, d), tensor(b, key_heads, n, d), tensor(b, key_heads, n, d),
        data.draw(st.booleans()), mask, data.draw(st.sampled_from([None, 0.1, 1.0])),
    )  # fmt: skip
