"""The exporter's options, and how they travel as compile specs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from executorch.exir.backend.compile_spec_schema import CompileSpec

from berth.export.isa import host_instruction_set

INSTRUCTION_SET = "instruction_set"
_EXTERNAL_WEIGHTS = "external_weights"
_KEEP_DEBUG = "keep_debug"
_MAX_AUTOTUNE = "max_autotune"
_INDUCTOR = "inductor_options"


@dataclass(frozen=True)
class Options:
    """How a delegate is compiled.

    The instruction set is recorded in the program, because Berth compares it
    with the CPU before it runs any compiled code.
    """

    # Words such as "AVX2"; the best that the exporting CPU has when not given.
    instruction_set: str = field(default_factory=host_instruction_set)
    # Weights go to a .ptd file beside the program.
    external_weights: bool = False
    # Keep debug information and local symbols in the library.
    keep_debug: bool = False
    # Generate matrix products in C++ instead of calling Berth's.
    max_autotune: bool = False
    # Settings of torch._inductor.config that win over Berth's own.
    inductor: Mapping[str, Any] = field(default_factory=dict)

    def to_specs(self) -> list[CompileSpec]:
        """The compile specs from which `from_specs` makes these options again."""
        specs = [CompileSpec(INSTRUCTION_SET, self.instruction_set.encode())]
        flags = {
            _EXTERNAL_WEIGHTS: self.external_weights,
            _KEEP_DEBUG: self.keep_debug,
            _MAX_AUTOTUNE: self.max_autotune,
        }
        specs += [CompileSpec(name, b"1") for name, on in flags.items() if on]
        if self.inductor:
            text = json.dumps(dict(self.inductor), sort_keys=True)
            specs.append(CompileSpec(_INDUCTOR, text.encode()))
        return specs

    @classmethod
    def from_specs(cls, specs: Sequence[CompileSpec]) -> Options:
        """Reads the specs that are Berth's; others are left alone."""
        values = {spec.key: spec.value for spec in specs}
        recorded = values.get(INSTRUCTION_SET)
        return cls(
            instruction_set=recorded.decode() if recorded else host_instruction_set(),
            external_weights=_flag(values, _EXTERNAL_WEIGHTS),
            keep_debug=_flag(values, _KEEP_DEBUG),
            max_autotune=_flag(values, _MAX_AUTOTUNE),
            inductor=json.loads(values.get(_INDUCTOR, b"{}")),
        )


def _flag(values: Mapping[str, bytes], key: str) -> bool:
    value = values.get(key, b"0")
    if value not in (b"0", b"1"):
        raise ValueError(f"compile spec {key!r} is b'0' or b'1', found {value!r}")
    return value == b"1"
