"""Berth's reading of call specs, held against torch's own pytrees."""

import collections
import json
import random
import sys
import types

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berth import _pytree

Point = collections.namedtuple("Point", "x y")
Rect = collections.namedtuple("Rect", "low high")

LEAF = {"type": None, "context": None, "children_spec": []}


class Leaf:
    """Stands for a tensor; equal to itself only."""


def node(kind, context, *children):
    return {"type": kind, "context": context, "children_spec": list(children)}


def call(args, kwargs=None):
    """The spec of a call; `kwargs` maps names to specs."""
    kwargs = kwargs or {}
    return json.dumps(
        [
            1,
            node(
                "builtins.tuple",
                "null",
                node("builtins.tuple", "null", *args),
                node("builtins.dict", json.dumps(list(kwargs)), *kwargs.values()),
            ),
        ]
    )


def flatten(spec, args, kwargs=None, count=None):
    root = _pytree.parse(spec)
    count = root.leaf_count if count is None else count
    made = _pytree.flattener(root, count, lambda value: isinstance(value, Leaf))
    return list(made(tuple(args), kwargs or {}))


@pytest.fixture(scope="module")
def pytree():
    module = pytest.importorskip("torch.utils._pytree")
    for cls in (Point, Rect):
        if cls not in module.SUPPORTED_SERIALIZED_TYPES:
            module._register_namedtuple(
                cls, serialized_type_name=f"{cls.__module__}.{cls.__qualname__}"
            )
    return module


def trees(leaves):
    keys = st.one_of(st.text("abc'\\\"", max_size=3), st.integers(-2, 9))

    def containers(children):
        lists = st.lists(children, max_size=4)
        dicts = st.dictionaries(keys, children, max_size=4)
        return st.one_of(
            lists,
            lists.map(tuple),
            dicts,
            dicts.map(collections.OrderedDict),
            dicts.map(lambda found: collections.defaultdict(list, found)),
            lists.map(collections.deque),
            lists.map(lambda found: collections.deque(found, 7)),
            st.tuples(children, children).map(Point._make),
            st.tuples(children, children).map(Rect._make),
        )

    return st.recursive(leaves, containers, max_leaves=12)


def same(a, b):
    """Equality that tells a tuple from a list, and one class from another."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(map(same, a.values(), b.values()))
    if isinstance(a, collections.deque) and a.maxlen != b.maxlen:
        return False
    if isinstance(a, (tuple, list, collections.deque)):
        return len(a) == len(b) and all(map(same, a, b))
    return a is b


tensors = st.builds(Leaf)


@settings(max_examples=300, deadline=None)
@given(
    args=st.lists(trees(tensors), max_size=3).map(tuple),
    kwargs=st.dictionaries(st.text("abc_", min_size=1, max_size=3), trees(tensors), max_size=3),
    seed=st.randoms(use_true_random=False),
)
def test_arguments_flatten_as_torch_flattens_them(pytree, args, kwargs, seed):
    expected, spec = pytree.tree_flatten((args, kwargs))
    shuffled = list(kwargs.items())
    seed.shuffle(shuffled)
    found = flatten(pytree.treespec_dumps(spec), args, dict(shuffled))
    assert len(found) == len(expected)
    assert all(a is b for a, b in zip(found, expected))


@settings(max_examples=300, deadline=None)
@given(tree=trees(tensors))
def test_results_are_built_as_torch_builds_them(pytree, tree):
    leaves, spec = pytree.tree_flatten(tree)
    text = pytree.treespec_dumps(spec)
    found = _pytree.builder(_pytree.parse(text))(leaves)
    assert same(found, pytree.tree_unflatten(leaves, pytree.treespec_loads(text)))
    assert same(found, tree)


@settings(max_examples=100, deadline=None)
@given(tree=trees(st.one_of(tensors, st.none(), st.integers(), st.text(max_size=3))))
def test_leaves_that_are_no_tensors_are_dropped(pytree, tree):
    leaves, spec = pytree.tree_flatten(((tree,), {}))
    expected = [leaf for leaf in leaves if isinstance(leaf, Leaf)]
    found = flatten(pytree.treespec_dumps(spec), (tree,), count=len(expected))
    assert len(found) == len(expected)
    # Where there were only tensors nothing is looked at; the binding refuses.
    assert all(a is b for a, b in zip(found, expected))


def test_types_of_torchs_own_are_known(pytree):
    import torch
    from torch.fx.immutable_collections import immutable_dict, immutable_list

    a, b = Leaf(), Leaf()
    tree = [torch.Size([2, 3]), immutable_list([a]), immutable_dict({"k": b})]
    leaves, spec = pytree.tree_flatten(((tree,), {}))
    text = pytree.treespec_dumps(spec)
    assert flatten(text, (tree,), count=2) == [a, b]
    built = _pytree.builder(_pytree.parse(text))(leaves)
    assert built == (([(2, 3), [a], {"k": b}],), {})


def test_all_positional_arguments_are_passed_on_as_they_are():
    root = _pytree.parse(call([LEAF, LEAF]))
    args = (Leaf(), Leaf())
    assert _pytree.flattener(root, 2, lambda value: True)(args, {}) is args


def test_a_dict_may_have_another_order():
    a, b = Leaf(), Leaf()
    spec = call([node("builtins.dict", '["a", "b"]', LEAF, LEAF)], {"x": LEAF, "y": LEAF})
    assert flatten(spec, [{"b": b, "a": a}], {"y": b, "x": a}) == [a, b, a, b]


def test_a_default_dict_gets_no_new_keys():
    context = {"default_factory_module": "builtins", "default_factory_name": "list", "dict_context": ["a"]}
    given_dict = collections.defaultdict(list)
    with pytest.raises(TypeError, match="missing keys 'a'"):
        flatten(call([node("collections.defaultdict", context, LEAF)]), [given_dict])
    assert not given_dict


PAIR = node("builtins.tuple", "null", LEAF, LEAF)
TABLE = node("builtins.dict", '["w", "m"]', LEAF, PAIR)


@pytest.mark.parametrize(
    ("args", "kwargs", "text"),
    [
        ((), {}, "expected 2 positional arguments, found 0"),
        ((1, 2, 3), {}, "expected 2 positional arguments, found 3"),
        ((1, (2, 3)), {}, "missing named arguments 'opts'"),
        ((1, (2, 3)), {"opts": 1, "more": 2}, "unexpected named arguments 'more'"),
        ((1, (2, 3)), {"options": 1}, "missing named arguments 'opts'; unexpected named arguments 'options'"),
        ((1, 2), {"opts": {}}, "argument [1]: expected a tuple, found int"),
        ((1, (2,)), {"opts": {}}, "argument [1]: expected 2 elements, found 1"),
        ((1, (2, 3)), {"opts": [1]}, "argument ['opts']: expected a dict, found list"),
        ((1, (2, 3)), {"opts": {"w": 1}}, "argument ['opts']: missing keys 'm'"),
        ((1, (2, 3)), {"opts": {"w": 1, "m": (1, 2), 3: 4}}, "argument ['opts']: unexpected keys 3"),
        ((1, (2, 3)), {"opts": {"w": 1, "m": (1,)}}, "argument ['opts']['m']: expected 2 elements, found 1"),
    ],
)
def test_a_mismatch_names_its_place(args, kwargs, text):
    with pytest.raises(TypeError) as caught:
        flatten(call([LEAF, PAIR], {"opts": TABLE}), args, kwargs)
    assert str(caught.value) == text


def test_a_mismatch_of_positional_tensors_says_how_many():
    with pytest.raises(TypeError, match="^expected 1 positional argument, found 2$"):
        flatten(call([LEAF]), (1, 2))
    with pytest.raises(TypeError, match="^unexpected named arguments: 'x'$"):
        flatten(call([LEAF]), (), {"x": 1})


def test_fewer_arguments_than_inputs_is_an_error():
    with pytest.raises(_pytree.CorruptSpecError, match="has 1 arguments, the model 2 inputs"):
        flatten(call([LEAF]), (1,), count=2)


def test_a_tensor_in_place_of_a_constant_is_counted():
    with pytest.raises(TypeError, match="expected 1 tensors among the arguments, found 2"):
        flatten(call([LEAF, LEAF]), (Leaf(), Leaf()), count=1)


def test_a_list_may_stand_for_a_tuple_and_the_reverse():
    a, b = Leaf(), Leaf()
    assert flatten(call([PAIR]), [[a, b]]) == [a, b]
    assert flatten(call([node("builtins.list", "null", LEAF)]), [(a,)]) == [a]


class TestNamedTuples:
    SPEC = node("collections.namedtuple", "somewhere.Place", LEAF, LEAF)

    def test_any_of_that_length_is_taken(self):
        assert flatten(call([self.SPEC]), [Point(1, 2)]) == [1, 2]

    @pytest.mark.parametrize("value", [(1, 2), [1, 2], Leaf()])
    def test_nothing_else_is(self, value):
        with pytest.raises(TypeError, match=r"argument \[0\]: expected a named tuple \(Place\)"):
            flatten(call([self.SPEC]), [value])

    def test_the_class_is_used_where_it_was_imported(self, monkeypatch):
        module = types.ModuleType("somewhere")
        module.Place = collections.namedtuple("Place", "north east")
        monkeypatch.setitem(sys.modules, "somewhere", module)
        built = _pytree.builder(_pytree.parse(json.dumps([1, self.SPEC])))([1, 2])
        assert type(built) is module.Place and built.east == 2

    def test_a_class_inside_a_class_is_found(self, monkeypatch):
        module = types.ModuleType("somewhere")
        module.Outer = type("Outer", (), {"Place": collections.namedtuple("Place", "a b")})
        monkeypatch.setitem(sys.modules, "somewhere", module)
        inner = dict(self.SPEC, context="somewhere.Outer.Place")
        built = _pytree.builder(_pytree.parse(json.dumps([1, inner])))([1, 2])
        assert type(built) is module.Outer.Place

    def test_a_stand_in_is_made_where_it_was_not(self):
        built = _pytree.builder(_pytree.parse(json.dumps([1, self.SPEC])))([1, 2])
        assert type(built).__name__ == "Place" and built == (1, 2)
        assert "somewhere" not in sys.modules


def test_slices_are_taken_apart_and_built():
    spec = node("builtins.slice", "null", LEAF, LEAF, LEAF)
    assert flatten(call([spec]), [slice(1, 2)]) == [1, 2, None]
    assert _pytree.builder(_pytree.parse(json.dumps([1, spec])))([1, 2, None]) == slice(1, 2)
    with pytest.raises(TypeError, match="expected a slice, found int"):
        flatten(call([spec]), [1])


def test_a_type_of_the_users_is_named():
    spec = call([node("my.models.State", "[]", LEAF)])
    with pytest.raises(_pytree.UnknownTypeError, match="my.models.State"):
        _pytree.parse(spec)


def test_a_wrong_number_of_results_is_an_error():
    with pytest.raises(_pytree.CorruptSpecError, match="has 2 results, the model gave 1"):
        _pytree.builder(_pytree.parse(json.dumps([1, PAIR])))([1])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "[1]",
        "[2, {}]",
        "[1, {}]",
        "[1, 3]",
        "{}",
        "null",
        '[1, {"type": 3, "context": null, "children_spec": 1}]',
        json.dumps([1, node("builtins.dict", "3")]),
        json.dumps([1, node("builtins.dict", '["a"]')]),
        json.dumps([1, node("builtins.dict", '["a", "a"]', LEAF, LEAF)]),
        json.dumps([1, node("builtins.dict", '["a", {}]', LEAF, LEAF)]),
        json.dumps([1, node("builtins.dict", None, LEAF)]),
        json.dumps([1, node("collections.defaultdict", {}, LEAF)]),
        json.dumps([1, node("collections.deque", "0", LEAF)]),
        json.dumps([1, node("builtins.slice", "null", LEAF)]),
        '[1, {"type": "builtins.list", "context": "null", "children_spec": [' * 100000,
    ],
)
def test_a_spoiled_spec_is_an_error(text):
    with pytest.raises(_pytree.CorruptSpecError):
        _pytree.parse(text)


def test_a_spec_of_something_else_than_a_call_is_an_error():
    with pytest.raises(_pytree.CorruptSpecError, match="positional and named"):
        _pytree.flattener(_pytree.parse(json.dumps([1, PAIR])), 2, lambda value: True)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_no_spoiled_spec_does_worse(data):
    """One character changed: an error of this module's, or another spec."""
    text = list(call([LEAF, PAIR], {"opts": TABLE}))
    at = data.draw(st.integers(0, len(text) - 1))
    text[at] = data.draw(st.sampled_from('0"[]{},:n \\'))
    try:
        _pytree.parse("".join(text))
    except (_pytree.CorruptSpecError, _pytree.UnknownTypeError):
        pass


def test_a_factory_is_never_imported():
    context = {"default_factory_module": "antigravity", "default_factory_name": "x", "dict_context": ["a"]}
    spec = json.dumps([1, node("collections.defaultdict", context, LEAF)])
    built = _pytree.builder(_pytree.parse(spec))([random])
    assert built.default_factory is None and built["a"] is random
    assert "antigravity" not in sys.modules
