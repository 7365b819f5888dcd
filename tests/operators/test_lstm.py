"""A layer of LSTM beside torch's."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from shim import ShimError, call, same

LSTM = 2
# Steps, batch, features, hidden.
SHAPES = [(1, 1, 1, 1), (5, 3, 4, 6), (7, 1, 32, 64), (3, 17, 33, 65), (40, 2, 80, 128)]


def parts(steps, batch, features, hidden, dtype=torch.float32):
    generator = torch.Generator().manual_seed(steps * 7 + hidden)
    shapes = (
        (steps, batch, features),
        (4 * hidden, features), (4 * hidden, hidden), (4 * hidden,), (4 * hidden,),
        (1, batch, hidden), (1, batch, hidden),
    )  # fmt: skip
    # As nn.LSTM starts: much larger weights make small errors grow with the steps.
    made = [torch.randn(shape, generator=generator) * hidden**-0.5 for shape in shapes]
    return [each.to(dtype) for each in made]


def both(tensors, reverse=False, biases=True):
    """Berth's three results, and a reference in double."""
    hidden = tensors[2].shape[1]
    rest = ([], LSTM, hidden, 1, biases, False, False, False)
    found = call("cpu_mkldnn_rnn_layer", *tensors, reverse, *rest, outputs=4)
    assert found[3].numel() == 0
    x, *weights, h, c = (each.double() for each in tensors)
    layer = torch.nn.LSTM(x.shape[2], hidden, bias=biases, dtype=torch.double)
    with torch.no_grad():
        for parameter, value in zip(layer.parameters(), weights, strict=False):
            parameter.copy_(value)
        state = [each.reshape(1, *each.shape[-2:]) for each in (h, c)]
        y, state = layer(x.flip(0) if reverse else x, state)
    y = y.flip(0).contiguous() if reverse else y
    return found[:3], (y, *(s.reshape(h.shape) for s in state))


def check(tensors, reverse=False, biases=True, tolerance=1e-5):
    for found, expected in zip(*both(tensors, reverse, biases), strict=True):
        same(found, expected.to(found.dtype), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_float32(shape, biases, reverse):
    check(parts(*shape), reverse, biases)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("shape", SHAPES)
def test_rounding_happens_once(shape, dtype):
    check(parts(*shape, dtype), tolerance=1e-2 if dtype is torch.bfloat16 else 2e-3)


def test_strides_may_be_any():
    tensors = parts(5, 3, 4, 6)
    batch_first = tensors[0].transpose(0, 1).contiguous().transpose(0, 1)
    turned = [each.t().contiguous().t() for each in tensors[1:3]]
    sliced = [torch.stack([each, each], -1)[..., 0] for each in tensors[3:]]
    check([batch_first, *turned, *sliced])
    check([tensors[0][:, :1].expand(5, 3, 4), *tensors[1:]])


def test_a_state_may_lack_the_layer():
    *tensors, hidden, cell = parts(5, 3, 4, 6)
    check([*tensors, hidden[0], cell[0]])


def test_results_lie_as_torchs():
    tensors = parts(5, 3, 4, 6)
    rest = ([], LSTM, 6, 1, True, False, False, False)
    found = call("cpu_mkldnn_rnn_layer", *tensors, False, *rest, outputs=4)
    with torch.no_grad():
        expected = torch.ops.aten.mkldnn_rnn_layer(*tensors, False, *rest)
    for mine, theirs in zip(found[:3], expected[:3], strict=True):
        same(mine, theirs)
        assert mine.stride() == theirs.stride()


def test_no_steps_leave_the_state():
    tensors = parts(0, 3, 4, 6)
    found = call(
        "cpu_mkldnn_rnn_layer", *tensors, False, [], LSTM, 6, 1, True, False, False, False, outputs=4
    )
    assert found[0].shape == (0, 3, 6)
    same(found[1], tensors[5])
    same(found[2], tensors[6])


def test_no_batch_is_empty():
    tensors = parts(5, 0, 4, 6)
    found = call(
        "cpu_mkldnn_rnn_layer", *tensors, False, [], LSTM, 6, 1, True, False, False, False, outputs=4
    )
    assert [each.shape for each in found[:3]] == [(5, 0, 6), (1, 0, 6), (1, 0, 6)]


@pytest.mark.parametrize("mode, hidden, packed", [(3, 6, []), (LSTM, 7, []), (LSTM, 6, [3, 2])])
def test_what_is_refused(mode, hidden, packed):
    tensors = parts(5, 3, 4, 6)
    with pytest.raises(ShimError):
        call(
            "cpu_mkldnn_rnn_layer", *tensors, False, packed, mode, hidden, 1, True, False, False, False,
            outputs=4,
        )  # fmt: skip


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.tuples(*[st.integers(1, 20)] * 4), st.booleans(), st.booleans())
def test_any(shape, reverse, biases):
    check(parts(*shape), reverse, biases)
