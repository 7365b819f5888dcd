"""Attention beside torch's."""

from __future__ import annotations

import pytest
import torch
from shim import call, optional, same

EAGER = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16]


def attend(q, k, v, causal=False, mask=None, scale=None, dropout=0.0):
    return call(
        "cpu__scaled_dot_product_flash_attention_for_cpu",
        q, k, v, float(dropout), causal, optional(mask), optional(scale), outputs=2,
    )  # fmt: skip


def check(q, k, v, causal=False, mask=None, scale=None):
    found = attend(q, k, v, causal, mask, scale)
    expected = EAGER(q, k, v, 0.0, causal, attn_mask=mask, scale=scale)
    wide = q.dtype in (torch.float32, torch.float64)
    rtol, atol = (1e-4, 1e-5) if wide else (2e-2, 2e-2)
    for one, other in zip(found, expected, strict=True):
        same(one, other, rtol=rtol, atol=atol)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    "sizes",
    [(1, 1, 1, 1, 1), (2, 3, 5, 7, 8), (1, 2, 33, 17, 20), (2, 2, 17, 200, 64), (1, 1, 130, 129, 3), (1, 2, 300, 300, 40)],
)
def test_sizes(dtype, causal, sizes):
    b, h, s, n, d = sizes
    check(*(torch.randn(b, h, length, d).to(dtype) for length in (s, n, n)), causal)
