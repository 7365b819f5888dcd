"""The compiled models that tests run, each written into a folder of its own.

A folder holds `model.pte` (and `model.ptd`), or `model.so` (and `weights.blob`,
`model.pt2`), with example inputs `in0.npy`, `in1.npy`, ... and what eager PyTorch
answers, `out0.npy`, .... Further cases put a word before or after: `other_in0.npy`
for a method, `in0_b64.npy` for a batch size, `out0_run2.npy` for a second run.
NumPy has no bfloat16: such files hold its bits as uint16.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import torch
from torch import nn

from berth.export import export_pte

FIXTURES: dict[str, Callable[[Path], None]] = {}


def fixture(make: Callable[[Path], None]) -> Callable[[Path], None]:
    FIXTURES[make.__name__] = make
    return make


def save(out: Path, kind: str, values: Any, before: str = "", after: str = "") -> None:
    for i, value in enumerate(values if isinstance(values, tuple) else (values,)):
        if value.dtype == torch.bfloat16:
            value = value.view(torch.uint16)
        numpy.save(out / f"{before}{kind}{i}{after}.npy", value.detach().numpy())


def save_case(out: Path, model: nn.Module, inputs: tuple, **words: str) -> None:
    save(out, "in", inputs, **words)
    save(out, "out", model(*inputs), **words)


def program(out: Path, model: nn.Module, inputs: tuple, **options: Any) -> None:
    model.eval()
    export_pte(model, inputs, out / "model.pte", **options)
    save_case(out, model, inputs)


def library(out: Path, model: nn.Module, inputs: tuple, **settings: Any) -> None:
    """A plain package of torch, as anyone's script would make it."""
    package = out / "model.pt2"
    torch._inductor.aoti_compile_and_package(
        torch.export.export(model.eval(), inputs),
        package_path=str(package),
        inductor_configs=settings,
    )
    with zipfile.ZipFile(package) as archive:
        for name in archive.namelist():
            target = {".so": "model.so", ".blob": "weights.blob"}.get(Path(name).suffix)
            if target:
                (out / target).write_bytes(archive.read(name))
    save(out, "in", inputs)


def tower(width: int = 32, hidden: int = 64, last: int | None = None) -> nn.Module:
    return nn.Sequential(
        nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, last or width)
    )


def mlp_model() -> nn.Module:
    return nn.Sequential(
        nn.Linear(64, 128),
        nn.ReLU(),
        nn.Linear(128, 128),
        nn.ReLU(),
        nn.Linear(128, 10),
    )


class Repeated(nn.Module):
    """The same tower `times` times, an absolute value between two of them."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.tower, self.times = tower(), times

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.tower(x)
        for _ in range(self.times - 1):
            x = self.tower(torch.abs(x))
        return x


@fixture
def two_towers(out: Path) -> None:
    program(out, Repeated(2), (torch.randn(4, 32),), keep_out=["abs"])


@fixture
def twenty_four(out: Path) -> None:
    program(out, Repeated(24), (torch.randn(4, 32),), keep_out=["abs"])


@fixture
def two_different(out: Path) -> None:
    class Two(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = tower(32, 64, 48), tower(48, 24, 16)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.second(torch.abs(self.first(x)))

    program(out, Two(), (torch.randn(4, 32),), keep_out=["abs"])


@fixture
def mlp(out: Path) -> None:
    program(out, mlp_model(), (torch.randn(2, 64),))


@fixture
def mlp_external(out: Path) -> None:
    program(out, mlp_model(), (torch.randn(2, 64),), external_weights=True)


@fixture
def no_weights(out: Path) -> None:
    class Pointwise(nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple:
            return torch.sigmoid(x) * y, x - y

    program(out, Pointwise(), (torch.randn(3, 40), torch.randn(3, 40)))


@fixture
def dynamic(out: Path) -> None:
    model, batch = mlp_model(), torch.export.Dim("batch", min=2, max=64)
    program(out, model, (torch.randn(4, 64),), dynamic_shapes=({0: batch},))
    for size in (2, 63, 64):
        save_case(out, model, (torch.randn(size, 64),), after=f"_b{size}")


def division(out: Path, side: int) -> None:
    """A zero in the second input is an error that the library reports."""

    class Divide(nn.Module):
        def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            return a // b

    count = side * side
    program(
        out,
        Divide(),
        (
            torch.arange(-count // 2, count // 2).reshape(side, side),
            torch.arange(1, count + 1).reshape(side, side),
        ),
    )


@fixture
def int_div(out: Path) -> None:
    division(out, 8)


@fixture
def int_div_large(out: Path) -> None:
    """Long enough that two runs are sure to meet."""
    division(out, 256)


def products(out: Path, dtype: torch.dtype) -> None:
    """Row-major, column-major and broadcast operands of every product served."""

    class Products(nn.Module):
        def forward(self, *inputs: torch.Tensor) -> tuple:
            a, b, bias = inputs
            batch_a, batch_b = a.reshape(2, 6, 40), b.reshape(2, 40, 12)
            column = b.reshape(24, 40).t()
            square = torch.bmm(batch_a, batch_b)
            return (
                torch.mm(a, column),
                torch.addmm(bias, a, column, beta=0.5, alpha=2),
                square,
                torch.baddbmm(square, batch_a, batch_b, alpha=0.25),
            )

    inputs = (torch.randn(12, 40), torch.randn(40, 24), torch.randn(24))
    program(out, Products(), tuple(value.to(dtype) for value in inputs))


@fixture
def gemms(out: Path) -> None:
    products(out, torch.float32)


@fixture
def gemms_bf16(out: Path) -> None:
    products(out, torch.bfloat16)


@fixture
def gemms_f64(out: Path) -> None:
    products(out, torch.float64)


@fixture
def multi_method(out: Path) -> None:
    shared = tower()

    class After(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tower = shared

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.abs(self.tower(x))

    class Before(After):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.tower(torch.abs(x))

    inputs = (torch.randn(4, 32),)
    methods = {"forward": After().eval(), "other": Before().eval()}
    export_pte(
        {name: (module, inputs) for name, module in methods.items()},
        None,
        out / "model.pte",
        keep_out=["abs"],
    )
    save_case(out, methods["forward"], inputs)
    save_case(out, methods["other"], inputs, before="other_")


@fixture
def mlp_lib(out: Path) -> None:
    model, inputs = mlp_model(), (torch.randn(2, 64),)
    library(out, model, inputs)
    save(out, "out", model(*inputs))


@fixture
def mlp_lib_external(out: Path) -> None:
    model, inputs = mlp_model(), (torch.randn(2, 64),)
    settings = {
        "aot_inductor.package_constants_in_so": False,
        "aot_inductor.package_constants_on_disk_format": "binary_blob",
    }
    library(out, model, inputs, **settings)
    save(out, "out", model(*inputs))


def wide_model() -> nn.Module:
    """19 MB of constants, so that one copy more or less shows in any figure."""
    return nn.Sequential(nn.Linear(1536, 1536), nn.ReLU(), nn.Linear(1536, 1536))


@fixture
def wide_lib(out: Path) -> None:
    model, inputs = wide_model(), (torch.randn(2, 1536),)
    library(out, model, inputs)
    (out / "model.pt2").unlink()
    save(out, "out", model(*inputs))


@fixture
def wide_lib_external(out: Path) -> None:
    model, inputs = wide_model(), (torch.randn(2, 1536),)
    settings = {
        "aot_inductor.package_constants_in_so": False,
        "aot_inductor.package_constants_on_disk_format": "binary_blob",
    }
    library(out, model, inputs, **settings)
    (out / "model.pt2").unlink()
    save(out, "out", model(*inputs))


@fixture
def folded(out: Path) -> None:
    """A constant that the library computes from others, once."""

    class Folded(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.randn(64, 64))
            self.scale = nn.Parameter(torch.randn(64))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x @ (self.weight * torch.exp(self.scale))

    model, inputs = Folded(), (torch.randn(2, 64),)
    library(out, model, inputs, **{"aot_inductor.use_runtime_constant_folding": True})
    save(out, "out", model(*inputs))


@fixture
def unserved(out: Path) -> None:
    """Imports two functions that Berth does not serve: gradients."""

    class Needy(nn.Module):
        def forward(self, x: torch.Tensor, of_pairs: torch.Tensor) -> tuple:
            grads = torch.ops.aten
            of_points = grads._cdist_backward(x, x, x, 2.0, x.abs())
            return of_points, grads._pdist_backward(of_pairs, x, 2.0, of_pairs.abs())

    model, inputs = Needy(), (torch.rand(6, 6), torch.rand(15))
    library(out, model, inputs)
    save(out, "out", model(*inputs))


@fixture
def stateful(out: Path) -> None:
    """Counts its runs in a buffer, as a plain library and as a program.

    A fresh instance starts at one again.
    """

    class Counter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(16))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.count.add_(1)
            return x + self.count

    model, inputs = Counter(), (torch.randn(4, 16),)
    library(out, model, inputs)
    export_pte(model, inputs, out / "model.pte")
    model.count.zero_()
    for run in (1, 2, 3):
        save(out, "out", model(*inputs), after="" if run == 1 else f"_run{run}")


@fixture
def state_returned(out: Path) -> None:
    """Hands out the buffer that it counts in, which is not row-major."""

    class Counter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.arange(24.0).reshape(4, 6).t())

        def forward(self, x: torch.Tensor) -> tuple:
            self.count.add_(1)
            return x * self.count, self.count

    model, inputs = Counter(), (torch.randn(6, 4),)
    library(out, model, inputs)
    model.count.copy_(torch.arange(24.0).reshape(4, 6).t())
    for run in (1, 2, 3):
        save(out, "out", model(*inputs), after="" if run == 1 else f"_run{run}")
