"""Nested arguments and results, as the exported module had them.

A compiled model takes and gives flat lists of tensors. How they nest is in its
call spec, torch's JSON (torch.utils._pytree.treespec_dumps, protocol 1):

    [1, {"type": "builtins.tuple", "context": "null", "children_spec": [...]}]

A spec is read once, into closures that are called at every run. It comes from a
file: nothing that it names is imported, only looked up among what is.
"""

from __future__ import annotations

import collections
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Takes a value apart: appends its leaves to a list.
Taker = Callable[[Any, list[Any]], None]
# Takes what it needs off an iterator of leaves and makes one value of it.
Builder = Callable[[Iterator[Any]], Any]


class CorruptSpecError(ValueError):
    """A spec that is not what torch writes."""


class UnknownTypeError(TypeError):
    """A spec names a type that only its own program knows."""


@dataclass(frozen=True)
class Node:
    """One container of a spec, or a leaf, whose `kind` is empty."""

    kind: str
    context: Any
    children: tuple[Node, ...]

    @property
    def leaf_count(self) -> int:
        return sum(child.leaf_count for child in self.children) if self.kind else 1


_LEAF = Node("", None, ())
_SEQUENCES = {
    "builtins.tuple": tuple,
    "builtins.list": list,
    "torch.Size": tuple,
    "torch.fx.immutable_collections.immutable_list": list,
}
_MAPPINGS = {
    "builtins.dict": dict,
    "collections.OrderedDict": collections.OrderedDict,
    "torch.fx.immutable_collections.immutable_dict": dict,
}
_DEFAULT_DICT = "collections.defaultdict"
_DEQUE = "collections.deque"
_NAMED_TUPLE = "collections.namedtuple"
_SLICE = "builtins.slice"


def parse(text: str) -> Node:
    """Reads a spec. Fails with CorruptSpecError, or UnknownTypeError."""
    try:
        protocol, root = json.loads(text)
        if protocol != 1:
            raise CorruptSpecError(f"call spec has protocol {protocol!r}, expected 1")
        return _node(root)
    except (CorruptSpecError, UnknownTypeError):
        raise
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise CorruptSpecError(f"call spec cannot be read: {error!r}") from error


def _node(spec: dict[str, Any]) -> Node:
    kind, context = spec["type"], spec["context"]
    if kind is None:
        return _LEAF
    children = tuple(_node(child) for child in spec["children_spec"])
    if kind in _SEQUENCES:
        context = None
    elif kind == _SLICE:
        if len(children) != 3:
            raise CorruptSpecError(f"call spec has a slice of {len(children)} parts")
    elif kind in _MAPPINGS:
        context = _keys(json.loads(context), len(children))
    elif kind == _DEFAULT_DICT:
        factory = _imported(context["default_factory_module"], context["default_factory_name"])
        context = (factory, _keys(context["dict_context"], len(children)))
    elif kind == _DEQUE:
        context = json.loads(context)
        if context is not None and (type(context) is not int or context < len(children)):
            raise CorruptSpecError(f"call spec has a deque of at most {context!r} elements")
    elif kind == _NAMED_TUPLE:
        context = _named_tuple(str(context), len(children))
    else:
        raise UnknownTypeError(f"the exported module's arguments or results hold a {kind}")
    return Node(kind, context, children)


def _keys(listed: Sequence[Any], count: int) -> tuple[Any, ...]:
    """A dict's keys; JSON has lists in place of tuples."""

    def restored(key: Any) -> Any:
        return tuple(map(restored, key)) if isinstance(key, list) else key

    keys = tuple(map(restored, listed))
    if len(set(keys)) != count or len(keys) != count:
        raise CorruptSpecError(f"call spec has {count} values for the keys {list(keys)}")
    return keys


def _imported(module: str, name: str) -> Any:
    """A class of a module that somebody imported, or None."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, type) else None


def _named_tuple(name: str, size: int) -> Any:
    """The class of that name; a stand-in where nobody imported it."""
    parts = name.split(".")
    for i in range(len(parts) - 1, 0, -1):
        found = _imported(".".join(parts[:i]), ".".join(parts[i:]))
        if found is not None and issubclass(found, tuple):
            if len(getattr(found, "_fields", ())) == size:
                return found
    # The spec holds no names of fields.
    return collections.namedtuple(parts[-1], [f"field{i}" for i in range(size)])


# --- Arguments ---------------------------------------------------------------


def flattener(
    root: Node, input_count: int, is_tensor: Callable[[Any], bool]
) -> Callable[[tuple[Any, ...], dict[str, Any]], Sequence[Any]]:
    """What makes the list of inputs from the arguments of a call.

    Where the spec has more leaves than the model has inputs, some were no tensors
    when the module was exported. They are compiled in: those given are dropped.
    """
    if root.kind != "builtins.tuple" or [child.kind for child in root.children] != [
        "builtins.tuple",
        "builtins.dict",
    ]:
        raise CorruptSpecError("call spec is not of positional and named arguments")
    positional, named = root.children
    if root.leaf_count < input_count:
        raise CorruptSpecError(
            f"call spec has {root.leaf_count} arguments, the model {input_count} inputs"
        )
    everything_counts = root.leaf_count == input_count
    if everything_counts and not named.children and _has_leaves_only(positional):
        return positional_flattener(input_count)
    take_positional = _sequence_taker(positional, "", (tuple,))
    take_named = _mapping_taker(named, "")

    def flatten(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        leaves: list[Any] = []
        take_positional(args, leaves)
        take_named(kwargs, leaves)
        return leaves

    def flatten_and_select(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        inputs = [leaf for leaf in flatten(args, kwargs) if is_tensor(leaf)]
        if len(inputs) != input_count:
            raise TypeError(
                f"expected {input_count} tensors among the arguments, found {len(inputs)};"
                " the rest were no tensors when the module was exported"
            )
        return inputs

    return flatten if everything_counts else flatten_and_select


def positional_flattener(
    count: int,
) -> Callable[[tuple[Any, ...], dict[str, Any]], Sequence[Any]]:
    """What takes exactly `count` positional arguments, each of them an input."""

    def flatten(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        if kwargs:
            raise TypeError(f"unexpected named arguments: {_list(kwargs)}")
        if len(args) != count:
            raise TypeError(_wrong_count("", count, len(args)))
        return args

    return flatten


def _has_leaves_only(node: Node) -> bool:
    return all(not child.kind for child in node.children)


def _take_leaf(value: Any, leaves: list[Any]) -> None:
    leaves.append(value)


def _taker(node: Node, path: str) -> Taker:
    if not node.kind:
        return _take_leaf
    if node.kind in _MAPPINGS or node.kind == _DEFAULT_DICT:
        return _mapping_taker(node, path)
    if node.kind == _SLICE:
        return _slice_taker(path)
    if node.kind == _NAMED_TUPLE:
        return _named_tuple_taker(node, path)
    return _sequence_taker(node, path, (tuple, list, collections.deque))


def _sequence_taker(node: Node, path: str, accepted: Any) -> Taker:
    count = len(node.children)
    takers = [_taker(child, f"{path}[{i}]") for i, child in enumerate(node.children)]
    leaves_only = _has_leaves_only(node)

    def take(value: Any, leaves: list[Any]) -> None:
        if not isinstance(value, accepted):
            raise TypeError(_wrong_type(path, f"a {node.kind.rpartition('.')[2]}", value))
        if len(value) != count:
            raise TypeError(_wrong_count(path, count, len(value)))
        if leaves_only:
            leaves.extend(value)
            return
        for taker, item in zip(takers, value):
            taker(item, leaves)

    return take


def _mapping_taker(node: Node, path: str) -> Taker:
    keys = node.context[1] if node.kind == _DEFAULT_DICT else node.context
    wanted = frozenset(keys)
    takers = [(key, _taker(child, f"{path}[{key!r}]")) for key, child in zip(keys, node.children)]

    def take(value: Any, leaves: list[Any]) -> None:
        if not isinstance(value, Mapping):
            raise TypeError(_wrong_type(path, "a dict", value))
        if value.keys() != wanted:
            raise TypeError(_wrong_keys(path, keys, value))
        for key, taker in takers:
            taker(value[key], leaves)

    return take


def _named_tuple_taker(node: Node, path: str) -> Taker:
    count = len(node.children)
    takers = [
        _taker(child, f"{path}.{field}")
        for field, child in zip(node.context._fields, node.children)
    ]

    def take(value: Any, leaves: list[Any]) -> None:
        if not isinstance(value, tuple) or not hasattr(value, "_fields"):
            raise TypeError(_wrong_type(path, f"a named tuple ({node.context.__name__})", value))
        if len(value) != count:
            raise TypeError(_wrong_count(path, count, len(value)))
        for taker, item in zip(takers, value):
            taker(item, leaves)

    return take


def _slice_taker(path: str) -> Taker:
    def take(value: Any, leaves: list[Any]) -> None:
        if not isinstance(value, slice):
            raise TypeError(_wrong_type(path, "a slice", value))
        leaves += (value.start, value.stop, value.step)

    return take


def _wrong_type(path: str, expected: str, found: Any) -> str:
    return f"argument {path}: expected {expected}, found {type(found).__name__}"


def _wrong_count(path: str, expected: int, found: int) -> str:
    if not path:
        plural = "" if expected == 1 else "s"
        return f"expected {expected} positional argument{plural}, found {found}"
    return f"argument {path}: expected {expected} elements, found {found}"


def _wrong_keys(path: str, expected: Sequence[Any], found: Mapping[Any, Any]) -> str:
    missing = [key for key in expected if key not in found]
    unexpected = [key for key in found if key not in expected]
    where, what = (f"argument {path}: ", "keys") if path else ("", "named arguments")
    parts = [f"missing {what} {_list(missing)}"] if missing else []
    parts += [f"unexpected {what} {_list(unexpected)}"] if unexpected else []
    return where + "; ".join(parts)


def _list(names: Iterable[Any]) -> str:
    return ", ".join(map(repr, names))


# --- Results -----------------------------------------------------------------


def builder(root: Node) -> Callable[[list[Any]], Any]:
    """What makes the result from the list of the model's outputs."""
    count = root.leaf_count
    if root.kind and _has_leaves_only(root):
        build = _joiner(root)
    else:
        build_parts = _builder(root)

        def build(outputs: list[Any]) -> Any:
            return build_parts(iter(outputs))

    def checked(outputs: list[Any]) -> Any:
        if len(outputs) != count:
            raise CorruptSpecError(f"call spec has {count} results, the model gave {len(outputs)}")
        return build(outputs)

    return checked


def _builder(node: Node) -> Builder:
    if not node.kind:
        return next
    join = _joiner(node)
    parts = [_builder(child) for child in node.children]
    return lambda outputs: join([part(outputs) for part in parts])


def _joiner(node: Node) -> Callable[[list[Any]], Any]:
    context: Any = node.context
    if node.kind in _SEQUENCES:
        return _SEQUENCES[node.kind]
    if node.kind in _MAPPINGS:
        mapping = _MAPPINGS[node.kind]
        return lambda values: mapping(zip(context, values))
    if node.kind == _DEFAULT_DICT:
        factory, keys = context
        return lambda values: collections.defaultdict(factory, zip(keys, values))
    if node.kind == _DEQUE:
        return lambda values: collections.deque(values, context)
    if node.kind == _SLICE:
        return lambda values: slice(*values)
    return lambda values: context(*values)
