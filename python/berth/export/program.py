"""From a model to the files that Berth runs."""

from __future__ import annotations

import logging
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from executorch.exir import (
    EdgeCompileConfig,
    EdgeProgramManager,
    ExecutorchProgramManager,
    to_edge_transform_and_lower,
)
from executorch.exir.lowered_backend_module import LoweredBackendModule
from torch.export import ExportedProgram

from berth.export.backend import BerthBackend, compile_session
from berth.export.isa import host_instruction_set
from berth.export.options import Options
from berth.export.partitioner import BerthPartitioner

Model = torch.nn.Module | ExportedProgram

_log = logging.getLogger("berth.export")


@dataclass(frozen=True)
class Delegate:
    """One delegate of a method, in the order in which the method calls them."""

    method: str
    so_key: str
    weights_key: str
    so_bytes: int
    weights_bytes: int


@dataclass(frozen=True)
class ExportReport:
    """What an export wrote."""

    path: Path
    data_paths: tuple[Path, ...]
    instruction_set: str
    delegates: tuple[Delegate, ...]

    @property
    def shared_keys(self) -> tuple[str, ...]:
        """Keys that more than one delegate names: stored once, used by each."""
        count = Counter(d.so_key for d in self.delegates)
        count += Counter(d.weights_key for d in self.delegates)
        return tuple(key for key, uses in count.items() if uses > 1)


def export_pte(
    model: Model | Mapping[str, tuple[torch.nn.Module, tuple]],
    example_inputs: tuple[Any, ...] | None,
    path: str | os.PathLike[str],
    keep_out: Iterable[object] = (),
    *,
    dynamic_shapes: Any = None,
    external_weights: bool = False,
    instruction_set: str | None = None,
    keep_debug: bool = False,
    max_autotune: bool = False,
    compile_options: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] = _log.info,
) -> ExportReport:
    """Exports, compiles and writes `model` to `path`, which ends in .pte.

    Several methods are given as a mapping from name to (module, inputs), with
    None for `example_inputs` and a mapping by name for `dynamic_shapes`.
    Operators in `keep_out` run in ExecuTorch (see BerthPartitioner).
    `compile_options` are settings of torch._inductor.config.

    The files appear complete or not at all; with `external_weights` the weights
    are beside the program, in a file of its name that ends in .ptd. Raises
    UnsupportedOperatorError when a delegate would need what Berth cannot serve.
    """
    path = Path(path)
    if path.suffix != ".pte":
        raise ValueError(f"a program's path ends in .pte, found '{path}'")
    options = Options(
        instruction_set=(instruction_set or host_instruction_set()).upper(),
        external_weights=external_weights,
        keep_debug=keep_debug,
        max_autotune=max_autotune,
        inductor=dict(compile_options or {}),
    )
    programs = _exported(model, example_inputs, dynamic_shapes, progress)
    keep_out = tuple(keep_out)
    with compile_session(progress):
        edge = to_edge_transform_and_lower(
            programs,
            partitioner={
                name: [BerthPartitioner(_specs(options, name), keep_out)]
                for name in programs
            },
            # Operators that are kept whole are not in the core set that it checks.
            compile_config=EdgeCompileConfig(_check_ir_validity=False),
        )
    delegates = tuple(_delegates(edge))
    data_paths = _write(edge.to_executorch(), path)
    progress(f"wrote {path} with {len(delegates)} delegates")
    return ExportReport(path, data_paths, options.instruction_set, delegates)


def _specs(options: Options, method: str) -> list[Any]:
    return [*options.to_specs(), BerthBackend.generate_method_name_compile_spec(method)]


def _exported(
    model: Any, inputs: Any, shapes: Any, progress: Callable[[str], None]
) -> dict[str, ExportedProgram]:
    if isinstance(model, ExportedProgram):
        return {"forward": model}
    if isinstance(model, Mapping):
        if inputs is not None:
            raise ValueError("with several methods, each brings its own inputs")
        methods, shapes = dict(model), shapes or {}
    else:
        methods, shapes = {"forward": (model, inputs)}, {"forward": shapes}
    programs = {}
    for name, (module, example) in methods.items():
        progress(f"exporting method {name}")
        programs[name] = torch.export.export(
            module, example, dynamic_shapes=shapes.get(name)
        )
    return programs


def _delegates(edge: EdgeProgramManager) -> Iterable[Delegate]:
    for method in sorted(edge.methods):
        graph_module = edge.exported_program(method).graph_module
        for module in _lowered(graph_module):
            so_key, weights_key = module.processed_bytes.decode().split("\n")
            data = module.named_data_store_output
            sizes = {
                key: len(data.buffers[entry.buffer_index])
                for entries in (data.pte_data, *data.external_data.values())
                for key, entry in entries.items()
            }
            yield Delegate(
                method, so_key, weights_key, sizes[so_key], sizes[weights_key]
            )


def _lowered(graph_module: torch.fx.GraphModule) -> Iterable[LoweredBackendModule]:
    for node in graph_module.graph.nodes:
        if node.op == "get_attr":
            module = getattr(graph_module, node.target)
            if isinstance(module, LoweredBackendModule):
                yield module
            elif isinstance(module, torch.fx.GraphModule):
                yield from _lowered(module)


def _write(program: ExecutorchProgramManager, path: Path) -> tuple[Path, ...]:
    path.parent.mkdir(parents=True, exist_ok=True)
    # A folder beside the target: a rename is atomic within a file system only.
    staging = tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-")
    with staging as folder:
        staged = Path(folder) / path.name
        program.write_tensor_data_to_file(folder)
        data = sorted(Path(folder).glob("*.ptd"))
        with open(staged, "wb") as file:
            program.write_to_file(file)
        targets = [path.with_suffix(".ptd")]
        if len(data) > 1:
            targets = [path.with_name(f"{path.stem}.{part.name}") for part in data]
        # The program last: who finds it finds its data.
        for source, target in zip(data, targets):
            os.replace(source, target)
        os.replace(staged, path)
    return tuple(targets[: len(data)])
