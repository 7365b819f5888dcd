"""Which operators go to Berth, and in how many delegates."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence

import torch
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.partitioner import (
    DelegationSpec,
    Partitioner,
    PartitionResult,
)
from executorch.exir.backend.utils import (
    get_non_lowered_nodes,
    tag_constant_data,
    tag_mutated_buffer,
)
from executorch.exir.dialects.edge._ops import EdgeOpOverload
from torch._export.utils import is_buffer, is_lifted_tensor_constant, is_param
from torch.export import ExportedProgram
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from berth.export import isa
from berth.export.options import INSTRUCTION_SET, Options

_CONTROL_FLOW = ("cond", "map_impl", "while_loop", "scan")


class BerthPartitioner(Partitioner):
    """Delegates every operator but those in `keep_out`.

    `keep_out` names operators as "abs", "aten.abs", "aten::abs",
    "aten.abs.default" or by their OpOverload. One that stays out splits the
    graph where it stands, and must have a kernel in the ExecuTorch runtime.
    """

    def __init__(
        self,
        compile_specs: Sequence[CompileSpec] | None = None,
        keep_out: Iterable[object] = (),
    ) -> None:
        super().__init__()
        specs = list(compile_specs or ())
        if all(spec.key != INSTRUCTION_SET for spec in specs):
            specs += Options().to_specs()
        isa.resolve(Options.from_specs(specs).instruction_set)
        self.delegation_spec = DelegationSpec("BerthBackend", specs)
        self._keep_out = frozenset(operator_name(op) for op in keep_out)

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        graph = exported_program.graph
        candidates = {
            node
            for node in get_non_lowered_nodes(graph)
            if not self._stays_out(node)
        }
        # Several partitions, not one tag: each must be free of detours through
        # an operator outside.
        proposed = CapabilityBasedPartitioner(
            exported_program.graph_module,
            _Among(candidates),
            allows_single_node_partition=True,
        ).propose_partitions()
        tags: dict[str, DelegationSpec] = {}
        for part in proposed:
            tag = f"berth_{part.id}"
            tags[tag] = self.delegation_spec
            for node in part.nodes:
                node.meta["delegation_tag"] = tag
        _tag_branches(graph)
        tag_constant_data(exported_program)
        tag_mutated_buffer(exported_program)
        if tags:
            _tag_unused_constants(exported_program, next(iter(tags)))
        return PartitionResult(exported_program, tags)

    def ops_to_not_decompose(
        self, ep: ExportedProgram
    ) -> tuple[list[torch._ops.OpOverload], None]:
        """All of them: torch's compiler decomposes better with the whole view."""
        targets = {node.target for node in ep.graph.nodes if node.op == "call_function"}
        return [op for op in targets if isinstance(op, torch._ops.OpOverload)], None

    def _stays_out(self, node: torch.fx.Node) -> bool:
        if node.target is operator.getitem:
            # A part of a tuple stays with the operator that makes the tuple.
            return self._stays_out(node.args[0])
        names = _names(node.target)
        return not self._keep_out.isdisjoint(names)


class _Among(OperatorSupportBase):
    def __init__(self, nodes: set[torch.fx.Node]) -> None:
        self._nodes = nodes

    def is_node_supported(
        self, submodules: Mapping[str, torch.nn.Module], node: torch.fx.Node
    ) -> bool:
        return node in self._nodes


def operator_name(given: object) -> str:
    """`aten::abs` for all overloads or `aten::abs.default` for one."""
    if isinstance(given, (torch._ops.OpOverload, EdgeOpOverload)):
        return _names(given)[1]
    if isinstance(given, torch._ops.OpOverloadPacket):
        return given._qualified_op_name
    if not isinstance(given, str):
        raise TypeError(f"keep_out takes names and operators, found {given!r}")
    words = given.replace("::", ".").split(".")
    if len(words) == 1:
        words = ["aten", *words]
    if 2 <= len(words) <= 3 and all(words):
        packet = getattr(getattr(torch.ops, words[0]), words[1], None)
        if isinstance(packet, torch._ops.OpOverloadPacket):
            if len(words) == 2:
                return f"{words[0]}::{words[1]}"
            if words[2] in packet.overloads():
                return f"{words[0]}::{words[1]}.{words[2]}"
    raise ValueError(f"keep_out names an unknown operator: {given!r}")


def _names(target: object) -> tuple[str, ...]:
    if isinstance(target, EdgeOpOverload):
        target = target._op
    if not isinstance(target, torch._ops.OpOverload):
        return ()
    schema = target._schema
    return schema.name, f"{schema.name}.{schema.overload_name or 'default'}"


def _tag_branches(graph: torch.fx.Graph) -> None:
    # A branch of cond or while_loop is an attribute that only its operator uses.
    targets = [getattr(torch.ops.higher_order, name) for name in _CONTROL_FLOW]
    for node in graph.nodes:
        if node.op != "get_attr":
            continue
        for user in node.users:
            if user.target in targets and "delegation_tag" in user.meta:
                node.meta["delegation_tag"] = user.meta["delegation_tag"]


def _tag_unused_constants(program: ExportedProgram, tag: str) -> None:
    # Constants without users belong to no delegate; left untagged, they would be
    # stored in the program for nobody.
    for node in program.graph.nodes:
        if node.op != "placeholder" or node.users or "delegation_tag" in node.meta:
            continue
        tests = (is_param, is_buffer, is_lifted_tensor_constant)
        if any(test(program, node) for test in tests):
            node.meta["delegation_tag"] = tag
