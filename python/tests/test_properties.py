"""Five models against eager, with whatever hypothesis comes up with.

Each draws sizes within the exported range, and views whose strides are anything
that NumPy or torch can make; what is expected is torch's eager result on a copy.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

# `load` is one object for the whole session: no example sees another's state.
many = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@st.composite
def views(draw, shape, dtype="float32"):
    """A NumPy array or a torch tensor of that shape: permuted, cut out, stepped
    through, reversed or broadcast."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    order = draw(st.permutations(range(len(shape))))
    steps = [draw(st.sampled_from([1, 1, 1, 2, -1])) for _ in shape]
    starts = [draw(st.integers(0, 2)) for _ in shape]
    broadcast = [draw(st.integers(0, 9)) == 0 for _ in shape]
    # Where the axes lie in memory, each with room before its first element.
    lengths = [1 if each else size for each, size in zip(broadcast, shape)]
    room = [size * abs(step) + start for size, step, start in zip(lengths, steps, starts)]
    base = random_values(rng, [room[axis] for axis in order], dtype)
    found = base.transpose(np.argsort(order)) if shape else base
    for axis, (size, step, start) in enumerate(zip(lengths, steps, starts)):
        cut = np.arange(start, start + size * abs(step), abs(step))
        piece = slice(cut[0], cut[-1] + 1, abs(step)) if size else slice(0, 0)
        found = found[(slice(None),) * axis + (piece,)]
        if step < 0:
            found = np.flip(found, axis)
    found = np.broadcast_to(found, shape)
    if any(stride < 0 for stride in found.strides) or draw(st.booleans()):
        return found
    return torch.from_numpy(found)


def random_values(rng, shape, dtype):
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if "int" in dtype:
        return rng.integers(-1000, 1000, shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def eager(value):
    """A tensor of its own memory with the same elements."""
    return value.clone() if isinstance(value, torch.Tensor) else torch.from_numpy(value.copy())


def check(found, expected, given_values):
    is_torch = any(isinstance(value, torch.Tensor) for value in given_values)
    for one, other in zip(found, expected, strict=True):
        assert isinstance(one, torch.Tensor if is_torch else np.ndarray)
        one = torch.as_tensor(one)
        assert one.shape == other.shape and one.dtype == other.dtype
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


# torch's compiler takes 1 for special, whatever the exporter was told.
sizes = st.integers(2, 64)


@many
@given(data=st.data(), rows=sizes, columns=sizes)
def test_elementwise(load, data, rows, columns):
    x, y = data.draw(views((rows, columns))), data.draw(views((columns,)))
    a, b = eager(x), eager(y)
    check(load("elementwise")(x, y), (a * torch.sin(b) + 1, torch.relu(a).sum(-1)), (x, y))


@many
@given(data=st.data(), batch=sizes)
def test_matrix_products(load, package_path, data, batch):
    x = data.draw(views((batch, 16)))
    state = np.load(package_path("mlp_dynamic").with_name("state.npz"))
    weights = {name: torch.from_numpy(values) for name, values in state.items()}
    hidden = torch.nn.functional.linear(eager(x), weights["net.0.weight"], weights["net.0.bias"])
    expected = torch.nn.functional.linear(
        torch.nn.functional.gelu(hidden), weights["net.2.weight"], weights["net.2.bias"]
    )
    check([load("mlp_dynamic")(x)], [expected], [x])


@many
@given(data=st.data(), length=sizes)
def test_attention(load, data, length):
    q, k, v = (data.draw(views((2, length, 16))) for _ in range(3))
    a, b, c = map(eager, (q, k, v))
    expected = torch.softmax(a @ b.transpose(-1, -2) / 4.0, -1) @ c
    check([load("attention")(q, k, v)], [expected], (q, k, v))


@many
@given(data=st.data(), rows=sizes)
def test_integers(load, data, rows):
    a, b = data.draw(views((rows, 4), "int64")), data.draw(views((4,), "int64"))
    m = data.draw(views((rows, 4), "bool"))
    x, y, z = map(eager, (a, b, m))
    check(load("integers")(a, b, m), (torch.where(z, x * y, x - y), (x > y).sum(0)), (a, b, m))


NAMES = "uint8 int8 int16 int32 int64 float16 float32 float64 bool".split()


@many
@given(data=st.data())
def test_dtypes(load, data):
    given_values = {name: data.draw(views((3, 4), name)) for name in NAMES}
    given_values["bfloat16"] = torch.arange(12).reshape(3, 4).bfloat16()
    order = data.draw(st.permutations(sorted(given_values)))
    found = load("dtypes")({name: given_values[name] for name in order})
    expected = {
        name: ~eager(value) if name == "bool" else eager(value) * 2
        for name, value in given_values.items()
    }
    check([found[name] for name in order], [expected[name] for name in order], given_values.values())
