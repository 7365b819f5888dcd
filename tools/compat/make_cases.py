"""Makes one case with the torch of the environment that this runs in.

    python make_cases.py CASE DIR

Started by make_packages.py, once a case, so that a case that crashes takes no
other with it. Must run under every torch that is compared: it asks torch what it
offers, and never for its version. Writes into DIR the package, the inputs and what
eager torch answers, and last of all made.json, which says how it went.
"""

from __future__ import annotations

import copy
import json
import os
import platform
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Before a library is loaded: it looks once, and checks its inputs only then.
os.environ["AOTI_RUNTIME_CHECK_INPUTS"] = "1"

import numpy
import torch
from torch import nn
from torch.utils import _pytree as pytree

CASES: dict[str, Callable[[Path], dict[str, Any]]] = {}


def case(make: Callable[[Path], dict[str, Any]]) -> Callable[[Path], dict[str, Any]]:
    CASES[make.__name__] = make
    return make


class Mlp(nn.Module):
    """Small, but its arguments and results are nested as a call spec can be."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(width, 128), nn.Linear(128, 10)

    def forward(self, x: torch.Tensor, *, extras: dict[str, torch.Tensor]) -> tuple:
        hidden = torch.relu(self.first(x * extras["gain"] + extras["bias"]))
        return self.last(hidden), {"peak": hidden.amax(dim=-1)}


class Counter(nn.Module):
    """Counts its calls, so that a second run must differ from the first."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(16, 16)
        # Not of one element: torch 2.13 compiles such a buffer's value in.
        self.register_buffer("count", torch.zeros(16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(1)
        return self.linear(x) + self.count


def mlp_call(batch: int, width: int = 64) -> tuple[tuple, dict[str, Any]]:
    # Not in alphabetical order: sorting the keys would be noticed.
    extras = {"gain": torch.randn(width), "bias": torch.randn(batch, width)}
    return (torch.randn(batch, width),), {"extras": extras}


def export_mlp(width: int = 64) -> tuple[nn.Module, tuple, dict, Any]:
    model = Mlp(width).eval()
    args, kwargs = mlp_call(4, width)
    batch = torch.export.Dim("batch", min=2, max=64)
    shapes = {"x": {0: batch}, "extras": {"gain": None, "bias": {0: batch}}}
    exported = torch.export.export(model, args, kwargs, dynamic_shapes=shapes)
    return model, args, kwargs, exported


def save(out: Path, kind: str, values: Any, before: str = "", after: str = "") -> None:
    for i, value in enumerate(pytree.tree_leaves(values)):
        numpy.save(out / f"{before}{kind}{i}{after}.npy", value.detach().numpy())


def same(one: Any, other: Any) -> bool:
    pairs = zip(pytree.tree_leaves(one), pytree.tree_leaves(other), strict=True)
    return all(torch.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in pairs)


def load(package: Path, name: str = "model") -> Any:
    from torch._inductor.package import load_package

    return load_package(str(package), name)


def mlp(out: Path, **settings: Any) -> dict[str, Any]:
    """One package of the MLP, with the weights where `settings` put them."""
    package = out / "model.pt2"
    model, args, kwargs, exported = export_mlp()
    torch._inductor.aoti_compile_and_package(
        exported,
        package_path=str(package),
        inductor_configs={f"aot_inductor.{k}": v for k, v in settings.items()},
    )
    save(out, "in", (args, kwargs))
    save(out, "out", model(*args, **kwargs))
    other_args, other_kwargs = mlp_call(7)
    save(out, "in", (other_args, other_kwargs), after="_b7")
    save(out, "out", model(*other_args, **other_kwargs), after="_b7")
    return {
        "settings": settings,
        "torch_agrees": lambda: same(
            runner(package, settings)(*args, **kwargs), model(*args, **kwargs)
        ),
    }


def runner(package: Path, settings: dict[str, Any]) -> Any:
    # Pickled weights are read by this function alone, and only when asked.
    if ENTRIES.items() <= settings.items():
        from torch.export.pt2_archive._package import load_pt2

        return load_pt2(str(package), load_weights_from_disk=True).aoti_runners["model"]
    return load(package)


def pickled_weights() -> dict[str, Any]:
    """The setting for weights in entries of their own; torch has renamed it."""
    if hasattr(torch._inductor.config.aot_inductor, "package_constants_on_disk"):
        return {"package_constants_on_disk": True}
    return {"package_constants_on_disk_format": "pickle_weights"}


ENTRIES = pickled_weights()


@case
def default(out: Path) -> dict[str, Any]:
    found = mlp(out)
    return {**found, "refusals": lambda: refusals(load(out / "model.pt2"))}


@case
def external(out: Path) -> dict[str, Any]:
    where = {"package_constants_on_disk_format": "binary_blob"}
    return mlp(out, package_constants_in_so=False, **where)


@case
def entries(out: Path) -> dict[str, Any]:
    return mlp(out, package_constants_in_so=False, **ENTRIES)


@case
def multi(out: Path) -> dict[str, Any]:
    """Two different models, `left` and `right`, in one package."""
    from torch._inductor.package import package_aoti

    files, calls = {}, {}
    for name, width in (("left", 64), ("right", 32)):
        model, args, kwargs, exported = export_mlp(width)
        options = {"aot_inductor.package": True}
        files[name] = torch._inductor.aot_compile(
            exported.module(), args, kwargs, options=options
        )
        save(out, "in", (args, kwargs), before=f"{name}_")
        save(out, "out", model(*args, **kwargs), before=f"{name}_")
        calls[name] = model, args, kwargs
    package = out / "model.pt2"
    package_aoti(str(package), files)

    def agrees() -> bool:
        return all(
            same(load(package, name)(*args, **kwargs), model(*args, **kwargs))
            for name, (model, args, kwargs) in calls.items()
        )

    return {"settings": {"package": True}, "torch_agrees": agrees}


@case
def mutates(out: Path) -> dict[str, Any]:
    package = out / "model.pt2"
    model, x = Counter().eval(), torch.randn(4, 16)
    exported = torch.export.export(copy.deepcopy(model), (x,))
    torch._inductor.aoti_compile_and_package(exported, package_path=str(package))
    results = [model(x).clone() for _ in range(2)]
    save(out, "in", x)
    save(out, "out", results[0])
    save(out, "out", results[1], after="_run2")

    def agrees() -> bool:
        compiled = load(package)
        return all(same(compiled(x), expected) for expected in results)

    return {"settings": {}, "torch_agrees": agrees}


@contextmanager
def printed() -> Iterator[Callable[[], str]]:
    """What compiled code writes to standard error, which Python's own misses."""
    with tempfile.TemporaryFile() as taken:
        kept = os.dup(2)
        os.dup2(taken.fileno(), 2)
        try:
            yield lambda: os.pread(taken.fileno(), 1 << 16, 0).decode(errors="replace")
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def refusals(compiled: Any) -> dict[str, dict[str, str]]:
    """What torch's own loader raises, and what is printed, for each wrong input."""
    args, kwargs = mlp_call(4)
    x = args[0]
    wrong = {
        "dtype": x.double(),
        "static dim": torch.randn(4, 63),
        "too small": torch.randn(1, 64),
        "too large": torch.randn(65, 64),
        "stride": torch.randn(64, 4).t(),
        # Never one dimension less: a library may read sizes that are not there.
        "one dimension more": x.unsqueeze(-1),
    }
    found = {}
    for name, value in wrong.items():
        raised = "nothing"
        with printed() as text:
            try:
                compiled(value, **kwargs)
            except Exception as error:
                raised = f"{type(error).__name__}: {error}"
            found[name] = {"raised": raised, "printed": text()}
    return found


def attempt(question: Callable[[], Any]) -> Any:
    """The answer, or why there is none: the package was made all the same."""
    try:
        return question()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def main() -> int:
    name, out = sys.argv[1], Path(sys.argv[2])
    started = time.monotonic()
    made: dict[str, Any] = {"torch": torch.__version__}
    made["python"] = platform.python_version()
    torch.manual_seed(7)
    try:
        with torch.no_grad():
            found = CASES[name](out)
            made["seconds"] = round(time.monotonic() - started, 1)
            for key, value in found.items():
                made[key] = attempt(value) if callable(value) else value
    except Exception as error:
        made["seconds"] = round(time.monotonic() - started, 1)
        made["error"] = f"{type(error).__name__}: {error}"
        traceback.print_exc()
    text = json.dumps(made, indent=2)
    (out / "made.json").write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
