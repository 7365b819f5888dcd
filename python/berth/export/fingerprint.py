"""A name for what a partition computes, to compile equal ones once.

Two programs with the same fingerprint compile to the same library: everything
that the compiler sees is in it, except the names of nodes, which it does not
write into a library. When in doubt the answer is None, and the partition is
compiled on its own.
"""

from __future__ import annotations

import hashlib
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

_PLAIN = (bool, int, float, str, torch.SymInt, torch.SymFloat, torch.SymBool)


class _Unknown(Exception):
    """Something whose identity this file cannot vouch for."""


def fingerprint(program: ExportedProgram, extra: str) -> str | None:
    """A hash of graph, constants, shapes and `extra`; None when unsure."""
    digest = hashlib.sha256(extra.encode())
    index: dict[torch.fx.Node, int] = {}

    def add(*parts: object) -> None:
        digest.update(repr(parts).encode() + b"\n")

    def argument(value: Any) -> str:
        if isinstance(value, torch.fx.Node):
            return f"%{index[value]}"
        if isinstance(value, torch.fx.GraphModule):
            raise _Unknown
        return f"{type(value).__name__}:{value!r}"

    try:
        for node in program.graph.nodes:
            if node.op == "get_attr":
                raise _Unknown
            leaves, tree = pytree.tree_flatten((node.args, node.kwargs))
            # A placeholder's target is its name.
            target = node.op if node.op == "placeholder" else str(node.target)
            add(node.op, target, [argument(leaf) for leaf in leaves], str(tree))
            values = pytree.tree_leaves(node.meta.get("val"))
            add([_described(value) for value in values])
            index[node] = len(index)
        signature = program.graph_signature
        for spec in (*signature.input_specs, *signature.output_specs):
            add(spec.kind, spec.target, getattr(spec, "persistent", None))
            if isinstance(spec.arg, torch.export.graph_signature.ConstantArgument):
                add(spec.arg.value)
        for symbol, bounds in program.range_constraints.items():
            add(str(symbol), str(bounds))
        for name, value in (*program.state_dict.items(), *program.constants.items()):
            if not isinstance(value, torch.Tensor):
                raise _Unknown
            add(name, _described(value), value.requires_grad)
            digest.update(_storage_bytes(value))
    except _Unknown:
        return None
    return digest.hexdigest()


def _described(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        shape, stride = tuple(value.shape), value.stride()
        return f"{value.dtype} {value.device} {shape} {stride} {value.storage_offset()}"
    if value is None or isinstance(value, _PLAIN):
        return f"{type(value).__name__}:{value}"
    raise _Unknown


def _storage_bytes(value: torch.Tensor) -> memoryview:
    # The whole storage, because that is what torch writes into the blob.
    storage = torch.empty(0, dtype=torch.uint8).set_(value.detach().untyped_storage())
    return memoryview(storage.numpy())
