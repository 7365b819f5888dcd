"""Architectures that people deploy, as torch packages them.

Each folder holds `model.pt2` beside the cases that fixtures.py describes.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from fixtures import fixture
from packages import package

# GEMM as templates in the library, instead of calls.
TEMPLATES = {"max_autotune": True, "max_autotune_gemm_backends": "CPP"}


@fixture
def gnn(out: Path) -> None:
    """Two graph convolutions: gather, sum over edges, project."""

    class Gnn(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(16, 32), nn.Linear(32, 8)

        def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
            source, target = edges
            for linear in (self.first, self.second):
                x = F.relu(linear(torch.zeros_like(x).index_add(0, target, x[source]) + x))
            return x

    package(out, Gnn(), (torch.randn(20, 16), torch.randint(0, 20, (2, 64))))


@fixture
def math_fns(out: Path) -> None:
    """Every function of one number that has a vectorised form."""

    class Functions(nn.Module):
        def forward(self, x: torch.Tensor) -> tuple:
            unit = torch.sigmoid(x)
            above = 1 + F.softplus(x)
            return (
                torch.exp(x), torch.exp2(x), torch.expm1(x), torch.log(unit), torch.log2(unit),
                torch.log10(unit), torch.log1p(unit), torch.sin(x), torch.cos(x), torch.tan(x),
                torch.asin(unit), torch.acos(unit), torch.atan(x), torch.sinh(x), torch.cosh(x),
                torch.tanh(x), torch.asinh(x), torch.acosh(above), torch.atanh(unit / 2),
                torch.erf(x), torch.erfc(x), torch.lgamma(above), torch.pow(above, x),
                torch.atan2(x, above), torch.hypot(x, above), torch.fmod(x, above),
                torch.special.erfinv(unit / 2), torch.digamma(above), torch.special.i0(unit),
            )  # fmt: skip

    package(out, Functions(), (torch.linspace(-3, 3, 7 * 33).reshape(7, 33),))


@fixture
def intdiv(out: Path) -> None:
    """Division and remainder of integers, and of numbers rounded."""

    class Division(nn.Module):
        def forward(self, a: torch.Tensor, b: torch.Tensor) -> tuple:
            return a // b, a % b, torch.div(a, b, rounding_mode="trunc"), torch.fmod(a, b)

    a = torch.arange(-50, 50).reshape(10, 10)
    package(out, Division(), (a, torch.where(a % 7 == 0, 3, a % 7 - 9)))


class Lstm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.LSTM(32, 48, num_layers=2, batch_first=True)
        self.head = nn.Linear(48, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(x)[0][:, -1])


@fixture
def lstm(out: Path) -> None:
    package(out, Lstm(), (torch.randn(2, 6, 32),))


@fixture
def lstm_decomposed(out: Path) -> None:
    """The same without oneDNN's layer: products and elementwise kernels."""
    with torch.backends.mkldnn.flags(enabled=False):
        package(out, Lstm(), (torch.randn(2, 6, 32),))


def encoder() -> nn.Module:
    layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


@fixture
def transformer_encoder(out: Path) -> None:
    package(out, encoder(), (torch.randn(2, 10, 64),))


@fixture
def transformer_encoder_math(out: Path) -> None:
    """The same with attention as products and a softmax."""
    with sdpa_kernel(SDPBackend.MATH):
        package(out, encoder(), (torch.randn(2, 10, 64),))


@fixture
def kv_cache_templates(out: Path) -> None:
    """One step of attention over a cache that the model keeps."""

    class Step(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)
            for name in ("keys", "values"):
                self.register_buffer(name, torch.zeros(1, 2, 16, 16))

        def forward(self, x: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
            q, k, v = (t.reshape(1, 2, 1, 16) for t in self.qkv(x).chunk(3, -1))
            self.keys.index_copy_(2, at, k)
            self.values.index_copy_(2, at, v)
            seen = (torch.arange(16) <= at).reshape(1, 1, 1, 16)
            y = F.scaled_dot_product_attention(q, self.keys, self.values, seen)
            return self.out(y.reshape(1, 32))

    with sdpa_kernel(SDPBackend.MATH):
        package(out, Step(), (torch.randn(1, 32), torch.tensor([3])), **TEMPLATES)


@fixture
def conv1d_audio(out: Path) -> None:
    model = nn.Sequential(
        nn.Conv1d(1, 16, 9, stride=2, padding=4), nn.BatchNorm1d(16), nn.GELU(),
        nn.Conv1d(16, 32, 5, padding=4, dilation=2), nn.Tanh(),
        nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(32, 4),
    )  # fmt: skip
    package(out, model, (torch.randn(2, 1, 256),))


@fixture
def indexing(out: Path) -> None:
    """Operators that the library calls, one of them by its schema."""

    class Indexing(nn.Module):
        def forward(self, x: torch.Tensor) -> tuple:
            return *torch.topk(x, 3), *torch.sort(x), x.cumsum(1), *torch.median(x, 1)

    package(out, Indexing(), (torch.randn(4, 16),))
