"""What Berth's shim serves, and what a compiled model asks of it.

The list is the one the shim itself is built from (src/shim/served.inc), so the
exporter cannot promise more than the runtime keeps.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable
from pathlib import Path

# A link to src/shim/served.inc in a checkout, a copy of it in a wheel.
_LIST = Path(__file__).with_name("served.inc")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ROW = re.compile(r"\bBERTH_SERVED\s*\(\s*(\w+)\s*,\s*\w+\s*\)")

# The wrapper calls a function by name, or through a cached constant that the
# macro CACHE_TORCH_<kind> makes from one.
_CALL = re.compile(r"\b(aoti_torch_\w+)\s*\(")
_CACHED = re.compile(r"\bCACHE_TORCH_([A-Z_]+)\((\w+)\)")
_CACHED_PREFIX = {
    "DTYPE": "dtype",
    "DEVICE": "device_type",
    "LAYOUT": "layout",
    "MEMORY_FORMAT": "memory_format",
}
# Torch's escape hatch for operators without a C function: it needs libtorch's
# dispatcher, whatever the operator is.
_ESCAPES = {
    "aoti_torch_proxy_executor_call_function",
    "aoti_torch_call_dispatcher",
}


class UnsupportedOperatorError(RuntimeError):
    """A model needs operators that Berth's shim does not serve.

    `operators` names all of them, sorted: shim functions (`aoti_torch_cpu_topk`)
    and, where torch has no such function, operators (`aten::median.dim`).
    """

    def __init__(self, operators: Iterable[str], where: str = "the model") -> None:
        self.operators = sorted(set(operators))
        count = len(self.operators)
        noun = "operator" if count == 1 else "operators"
        super().__init__(
            f"{where} needs {count} {noun} that Berth does not serve: "
            + ", ".join(self.operators)
            + "; keep them out of the delegate with keep_out=[...], or rewrite the"
            " model without them"
        )


def parse_served(text: str) -> frozenset[str]:
    """The functions in the rows `BERTH_SERVED(name, theme)` of `text`.

    A row leaves out the prefix that all of them share.
    """
    names = _ROW.findall(_COMMENT.sub(" ", text))
    return frozenset("aoti_torch_" + name for name in names)


@functools.cache
def served_functions() -> frozenset[str]:
    """Every function that this version of Berth serves to a delegate."""
    try:
        names = parse_served(_LIST.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"the list of served functions is missing: expected it at {_LIST}"
        ) from error
    if not names:
        raise ValueError(f"{_LIST} holds no row BERTH_SERVED(name, theme)")
    return names


def unserved(wrapper_code: str, extern_nodes: str | None) -> set[str]:
    """What the generated wrapper needs and the shim does not serve.

    `extern_nodes` is the JSON in which torch lists the operators that it calls
    through its dispatcher; they have no shim function to be served by.
    """
    called = set(_CALL.findall(wrapper_code))
    for kind, name in _CACHED.findall(wrapper_code):
        called.add(f"aoti_torch_{_CACHED_PREFIX[kind]}_{name}")
    missing = called - served_functions() - _ESCAPES
    nodes = json.loads(extern_nodes)["nodes"] if extern_nodes else []
    proxied = {node["node"]["target"].removeprefix("torch.ops.") for node in nodes}
    # The operators say more than the hatch that they go through.
    return missing | (proxied or called & _ESCAPES)
