"""Matrix products beside torch's."""

import pytest
import torch
from shim import call, same


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int32])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (3, 5, 7), (64, 65, 33), (0, 3, 2), (2, 0, 3)])
def test_mm_out(dtype, sizes):
    m, k, n = sizes
    a, b = (torch.randn(shape).mul(4).to(dtype) for shape in ((m, k), (n, k)))
    found = torch.empty(m, n, dtype=dtype)
    call("cpu_mm_out", found, a, b.t(), outputs=0)
    tolerance = 2e-2 if dtype is torch.bfloat16 else 1e-4
    same(found, a @ b.t(), rtol=tolerance, atol=tolerance)
