"""Packages whose calls nest, for the tests of the Python package.

Each folder holds `model.pt2`; the tests compute what they expect.
"""

from __future__ import annotations

import collections
from pathlib import Path
from typing import Any

import numpy
import torch
from torch import nn
from torch.export import Dim
from torch.utils import _pytree

from fixtures import fixture

Pair = collections.namedtuple("Pair", "low high")


def package(
    out: Path, model: nn.Module, args: tuple, kwargs: dict | None = None, shapes: Any = None
) -> None:
    exported = torch.export.export(model.eval(), args, kwargs, dynamic_shapes=shapes)
    torch._inductor.aoti_compile_and_package(exported, package_path=str(out / "model.pt2"))


@fixture
def nested(out: Path) -> None:
    """Arguments and results in every kind of container; a flag compiled in."""

    class Nested(nn.Module):
        def forward(self, x: Any, pair: Pair, flag: bool, *, opts: dict, scale: Any = None) -> Any:
            y = x @ opts["w"] + pair.low
            return collections.OrderedDict(
                y=y, parts=[pair.high * 2, (y.sum(-1),)], none=None, num=3,
                mask=~opts["m"], pair=Pair(y - 1, pair.low + 1),
            )  # fmt: skip

    # A name that no test imports.
    _pytree._register_namedtuple(Pair, serialized_type_name="berth_fixtures.Pair")
    opts = {"w": torch.randn(16, 8).t(), "m": torch.ones(3, dtype=torch.bool)}
    args = (torch.randn(4, 8), Pair(torch.randn(16), torch.randn(3)), True)
    shapes = {
        "x": {0: Dim("batch", min=2, max=64)}, "pair": Pair(None, None), "flag": None,
        "opts": {"w": None, "m": None}, "scale": None,
    }  # fmt: skip
    package(out, Nested(), args, {"opts": opts, "scale": None}, shapes)


@fixture
def elementwise(out: Path) -> None:
    """Two results; rows and columns are dynamic."""

    class Elementwise(nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple:
            return x * torch.sin(y) + 1, torch.relu(x).sum(-1)

    rows, columns = Dim("rows", min=2, max=64), Dim("columns", min=2, max=64)
    shapes = ({0: rows, 1: columns}, {0: columns})
    package(out, Elementwise(), (torch.randn(4, 5), torch.randn(5)), shapes=shapes)


@fixture
def dtypes(out: Path) -> None:
    """A dict of tensors by their dtype's name, each added to itself or negated."""

    class Dtypes(nn.Module):
        def forward(self, tensors: dict) -> dict:
            return {k: ~t if t.dtype == torch.bool else t + t for k, t in tensors.items()}

    names = "uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 bool".split()
    tensors = {name: torch.ones(3, 4, dtype=getattr(torch, name)) for name in names}
    package(out, Dtypes(), (tensors,))


@fixture
def mlp_dynamic(out: Path) -> None:
    """Matrix products with a dynamic batch; its weights are in state.npz."""

    class Mlp(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 8))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.net(x)

    model = Mlp()
    package(out, model, (torch.randn(4, 16),), shapes=({0: Dim("batch", min=2, max=64)},))
    numpy.savez(out / "state.npz", **{k: v.numpy() for k, v in model.state_dict().items()})


@fixture
def attention(out: Path) -> None:
    """A softmax and batched products over a dynamic length."""

    class Attention(nn.Module):
        def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
            return torch.softmax(q @ k.transpose(-1, -2) / 4.0, -1) @ v

    length = Dim("length", min=2, max=64)
    args = tuple(torch.randn(2, 5, 16) for _ in range(3))
    package(out, Attention(), args, shapes=({1: length},) * 3)


@fixture
def integers(out: Path) -> None:
    """int64 and bool, with a dynamic number of rows."""

    class Integers(nn.Module):
        def forward(self, a: torch.Tensor, b: torch.Tensor, m: torch.Tensor) -> tuple:
            return torch.where(m, a * b, a - b), (a > b).sum(0)

    rows = Dim("rows", min=2, max=64)
    args = (
        torch.arange(12).reshape(3, 4),
        torch.ones(4, dtype=torch.int64),
        torch.ones(3, 4, dtype=torch.bool),
    )
    package(out, Integers(), args, shapes=({0: rows}, None, {0: rows}))


@fixture
def scalar(out: Path) -> None:
    """An input and an output without dimensions."""

    class Double(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    package(out, Double(), (torch.tensor(1.5),))


@fixture
def nothing(out: Path) -> None:
    """No inputs."""

    class Nothing(nn.Module):
        def forward(self) -> torch.Tensor:
            return torch.arange(5) * 2

    package(out, Nothing(), ())


@fixture
def writes(out: Path) -> None:
    """Adds one to its argument, in place."""

    class Writes(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x.add_(1)
            return x * 2

    package(out, Writes(), (torch.randn(3, 4),))


@fixture
def alias(out: Path) -> None:
    """Gives its argument back, and a view of it."""

    class Alias(nn.Module):
        def forward(self, x: torch.Tensor) -> tuple:
            return x, x.t(), x + 0

    package(out, Alias(), (torch.randn(3, 4),))


@fixture
def slow(out: Path) -> None:
    """A tenth of a second, in large products."""

    class Slow(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for _ in range(8):
                x = x @ x
            return x

    package(out, Slow(), (torch.randn(1024, 1024),))
