"""torch's tensors in and out, where the program imported torch."""

import gc
import subprocess
import sys
import weakref

import numpy as np
import pytest

import berth

torch = pytest.importorskip("torch")

DTYPES = "uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64".split()


@pytest.fixture
def every_dtype():
    values = torch.arange(12).reshape(3, 4)
    given = {name: values.to(getattr(torch, name)) for name in DTYPES}
    given["bool"] = values % 2 == 0
    return given


def test_every_dtype_crosses(load, every_dtype):
    found = load("dtypes")(every_dtype)
    for name in DTYPES:
        assert type(found[name]) is torch.Tensor
        assert torch.equal(found[name], every_dtype[name] * 2), name
    assert torch.equal(found["bool"], ~every_dtype["bool"])


def test_results_are_torchs_if_one_input_is(load):
    model = load("elementwise")
    x, y = np.ones((2, 3), "f4"), np.ones(3, "f4")
    for given in ((torch.from_numpy(x), y), (x, torch.from_numpy(y))):
        assert all(type(found) is torch.Tensor for found in model(*given))
    assert all(type(found) is np.ndarray for found in model(x, y))


@pytest.fixture
def double(load):
    return load("scalar")


class TestTensorsThatAreMoreThanMemory:
    def test_a_gradient_is_left_behind(self, double):
        x = torch.tensor(1.5, requires_grad=True)
        for given in (x, x * 1, torch.nn.Parameter(x)):
            found = double(given)
            assert found == 3.0 and not found.requires_grad

    def test_a_lazy_negation_is_written_out(self, double):
        x = torch.tensor(1 + 2j).conj().imag
        assert x.is_neg() and double(x) == -4.0

    def test_a_class_of_the_users_is_taken(self, double):
        class Special(torch.Tensor):
            pass

        found = double(torch.tensor(1.5).as_subclass(Special))
        assert found == 3.0 and isinstance(found, torch.Tensor)

    @pytest.mark.parametrize(
        ("make", "error"),
        [
            (lambda: torch.tensor(1.5, device="meta"), RuntimeError),
            (lambda: torch.eye(2).to_sparse(), RuntimeError),
            (lambda: torch.quantize_per_tensor(torch.eye(2), 0.1, 0, torch.qint8), RuntimeError),
        ],
        ids=["meta", "sparse", "quantized"],
    )
    def test_one_without_memory_of_its_own_is_refused(self, double, make, error):
        with pytest.raises(error) as caught:
            double(make())
        assert isinstance(caught.value, berth.Error)
        assert "input 0" in str(caught.value)

    def test_one_that_is_faked_is_refused(self, double):
        from torch._subclasses import FakeTensorMode

        with FakeTensorMode() as mode, pytest.raises(berth.Error):
            double(mode.from_tensor(torch.tensor(1.5)))


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x,
        lambda x: x.t(),
        lambda x: x[::2, 1::3],
        lambda x: x[:1].expand(5, -1),
        lambda x: x[0, 0].expand(4, 5),
        lambda x: x.as_strided((3, 4), (1, 2), 5),
        lambda x: x.unfold(1, 4, 2)[0],
    ],
    ids=["as it is", "transposed", "with steps", "rows expanded", "expanded", "overlapping", "unfolded"],
)
def test_a_view_is_read_right(load, view):
    x = view(torch.randn(12, 16))
    y = torch.randn(x.shape[1])
    first, second = load("elementwise")(x, y)
    torch.testing.assert_close(first, x * torch.sin(y) + 1)
    torch.testing.assert_close(second, torch.relu(x).sum(-1))


def test_outputs_outlive_the_model(package_path):
    model = berth.load(package_path("scalar"))
    found = model(torch.tensor(2.0))
    model.close()
    del model
    assert found.add_(1) == 5.0


def test_elements_that_numpy_lacks_go_between_the_two(load, every_dtype):
    model = load("dtypes")
    from_torch = model(every_dtype)["bfloat16"]
    handed = {
        name: berth.Tensor.from_bits(tensor.view(torch.uint16).numpy(), "bfloat16")
        if name == "bfloat16"
        else tensor.numpy()
        for name, tensor in every_dtype.items()
    }
    found = model(handed)["bfloat16"]
    assert isinstance(found, berth.Tensor)
    assert torch.equal(torch.from_dlpack(found), from_torch)


@pytest.mark.parametrize(
    "name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "complex32"]
)
def test_every_dtype_that_numpy_lacks_crosses_by_dlpack(name):
    dtype = getattr(torch, name)
    integers = torch.arange(4).to(getattr(torch, f"uint{8 * dtype.itemsize}"))
    tensor = berth.Tensor.from_bits(integers.numpy(), name)
    assert tensor.dtype == name
    seen = torch.from_dlpack(tensor)
    assert seen.dtype == dtype and torch.equal(seen.view(integers.dtype), integers)


def run_alone(code):
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_types_of_ml_dtypes_are_used_where_it_was_imported(package_path):
    pytest.importorskip("ml_dtypes")
    run_alone(f"""
import berth, ml_dtypes, numpy
model = berth.load({str(package_path("dtypes"))!r})
values = numpy.arange(12).reshape(3, 4)
given = {{name: values.astype(name) for name in {DTYPES!r} if name != "bfloat16"}}
given |= {{"bfloat16": values.astype(ml_dtypes.bfloat16), "bool": values > 3}}
found = model(given)["bfloat16"]
assert found.dtype == ml_dtypes.bfloat16
assert (found.astype("f4") == values * 2).all()
turned = given | {{"bfloat16": given["bfloat16"][::-1]}}
assert (model(turned)["bfloat16"].astype("f4") == values[::-1] * 2).all()
""")


def test_a_torch_without_a_c_exchange_is_spoken_to_by_capsules(package_path):
    """As older ones are."""
    run_alone(f"""
import torch
del torch.Tensor.__dlpack_c_exchange_api__
import berth
model = berth.load({str(package_path("dtypes"))!r})
values = torch.arange(12).reshape(3, 4)
given = {{name: values.to(getattr(torch, name)) for name in {DTYPES!r}}}
given["bool"] = values % 2 == 0
found = model(given)
assert all(torch.equal(found[n], given[n] * 2) for n in {DTYPES!r})
assert type(found["bfloat16"]) is torch.Tensor
double = berth.load({str(package_path("scalar"))!r})
assert double(torch.tensor(1 + 2j).conj().imag.requires_grad_()) == -4
""")


def test_tensors_go_back_to_torch(load):
    """Nothing of a run's inputs and outputs stays behind."""
    x = torch.tensor(1.5)
    found = load("scalar")(x)
    gone = weakref.ref(x), weakref.ref(found)
    del x, found
    gc.collect()
    assert [each() for each in gone] == [None, None]
