"""Packages as torch writes them, of every kind that Berth reads.

Each folder holds `model.pt2` beside the cases that fixtures.py describes. Inputs
and outputs are flat, in the order of the model's call spec.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import torch
from torch import nn
from torch.utils import _pytree

from fixtures import fixture, mlp_model, save, tower


def package(
    out: Path, model: nn.Module, args: tuple, kwargs: dict | None = None,
    shapes: Any = None, **settings: Any,
) -> None:  # fmt: skip
    """Compiles `model` and saves the case of these arguments."""
    exported = torch.export.export(model.eval(), args, kwargs, dynamic_shapes=shapes)
    torch._inductor.aoti_compile_and_package(
        exported, package_path=str(out / "model.pt2"), inductor_configs=settings
    )
    flat_case(out, model, args, kwargs or {})


def flat_case(out: Path, model: nn.Module, args: tuple, kwargs: dict, **words: str) -> None:
    """Saves the tensors among the arguments and results; numbers are no files."""
    save(out, "in", tuple(_pytree.tree_leaves((args, kwargs))), **words)
    results = _pytree.tree_leaves(model(*args, **kwargs))
    for i, value in enumerate(results):
        if isinstance(value, torch.Tensor):
            numpy.save(out / f"{words.get('before', '')}out{i}.npy", value.detach().numpy())


@fixture
def nested_pkg(out: Path) -> None:
    """Named arguments, dicts, a None and a number among the results."""

    class Nested(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(64, 32)

        def forward(self, x: torch.Tensor, *, opts: dict) -> dict:
            y = self.linear(x)
            pair = (y @ opts["w"], ~opts["m"])
            return {"y": y, "pair": pair, "none": None, "num": 3}

    batch = torch.export.Dim("batch", min=2, max=64)
    opts = {"w": torch.randn(16, 32).t(), "m": torch.tensor([True, False, True])}
    shapes = {"x": {0: batch}, "opts": {"w": None, "m": None}}
    package(out, Nested(), (torch.randn(4, 64),), {"opts": opts}, shapes)


@fixture
def entries_pkg(out: Path) -> None:
    """Constants in an entry each, two of which share their storage."""

    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tower = tower()
            self.tied = self.tower[0].weight

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.tower(x) @ self.tied.t()

    settings = {
        "aot_inductor.package_constants_in_so": False,
        "aot_inductor.package_constants_on_disk_format": "pickle_weights",
    }
    package(out, Tied(), (torch.randn(4, 32),), **settings)


@fixture
def bare_pkg(out: Path) -> None:
    """Constants nowhere: whoever loads it has them."""
    settings = {"aot_inductor.package_constants_in_so": False}
    package(out, tower(), (torch.randn(4, 32),), **settings)


@fixture
def two_models_pkg(out: Path) -> None:
    """Two models in one package; both on the same input."""
    # Not of one shape: torch names files by the code, and would write the second
    # library over the first.
    models = {"left": mlp_model().eval(), "right": tower(64, 96, 10).eval()}
    inputs = (torch.randn(2, 64),)
    files = {}
    for name, model in models.items():
        exported = torch.export.export(model, inputs)
        files[name] = torch._inductor.aot_compile(
            exported.module(), inputs, options={"aot_inductor.package": True}
        )
        flat_case(out, model, inputs, {}, before=f"{name}_")
    torch._inductor.package.package_aoti(str(out / "model.pt2"), files)


@fixture
def control_pkg(out: Path) -> None:
    """Branches and loops that the library runs itself."""

    class Control(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Linear(16, 16), nn.Linear(16, 16)

        def forward(self, x: torch.Tensor) -> tuple:
            chosen = torch.cond(x.sum() > 0, self.a, self.b, (x,))
            _, doubled = torch.while_loop(
                lambda i, v: i < 5, lambda i, v: (i + 1, v * 2), (torch.tensor(0), x)
            )
            return chosen, doubled

    package(out, Control(), (torch.rand(4, 16),))


@fixture
def functions_pkg(out: Path) -> None:
    """Functions whose vector forms are SLEEF's, and integer division."""

    class Functions(nn.Module):
        def forward(self, x: torch.Tensor, i: torch.Tensor) -> tuple:
            names = (
                "acos", "asin", "atan", "cos", "cosh", "erf", "erfc", "exp", "exp2",
                "expm1", "lgamma", "log", "log10", "log1p", "log2", "sin", "sinh",
                "sqrt", "tan", "tanh",
            )  # fmt: skip
            made = [getattr(torch, name)(x) for name in names]
            made += [torch.atan2(x, 1 - x), torch.hypot(x, x), torch.pow(x, 2.5)]
            return (*made, i // 3, i % 5, torch.fmod(x, 0.3))

    inputs = (torch.rand(7, 33) * 0.8 + 0.1, torch.arange(-64, 64))
    package(out, Functions(), inputs)


DTYPES = (
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.float32, torch.float64,
)  # fmt: skip


@fixture
def dtypes_pkg(out: Path) -> None:
    """An input and an output of each type, one of no dimensions, one empty."""

    class Types(nn.Module):
        def forward(self, *values: torch.Tensor) -> tuple:
            *typed, scalar, empty = values
            made = [~v if v.dtype == torch.bool else v + v for v in typed]
            return (*made, scalar * 2, empty + 1)

    base = torch.arange(24).reshape(4, 6) % 7
    inputs = tuple(base.to(dtype) for dtype in DTYPES)
    package(out, Types(), (*inputs, torch.tensor(1.5), torch.empty(0, 3)))


@torch.library.custom_op("berth_test::soft_clip", mutates_args=())
def soft_clip(x: torch.Tensor, most: float, sizes: list[int], keep: bool = True) -> torch.Tensor:
    """Defined in Python only, as a program's own operators are."""
    kept = most * torch.tanh(x / most) + sum(sizes)
    return kept if keep else kept * 0


@soft_clip.register_fake
def _(x: torch.Tensor, most: float, sizes: list[int], keep: bool = True) -> torch.Tensor:
    return torch.empty_like(x)


@fixture
def custom_operator_pkg(out: Path) -> None:
    """Calls an operator that a program has to register."""

    class Clipped(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(16, 8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return soft_clip(self.linear(x), 0.5, [1, 2]) * 2

    package(out, Clipped(), (torch.randn(4, 16),))
