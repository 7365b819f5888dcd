"""What crosses into a model, and out of it."""

import array
import gc
import weakref

import numpy as np
import pytest

import berth

NUMPY_DTYPES = ["uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]


class Speaker:
    """An array of another library's: nothing but DLPack."""

    def __init__(self, held, versioned=True):
        self.held, self.versioned = held, versioned

    def __dlpack__(self, **options):
        if options and not self.versioned:
            raise TypeError("__dlpack__() got an unexpected keyword argument")
        return self.held.__dlpack__(**options)

    def __dlpack_device__(self):
        return (1, 0)


def bfloat16(values):
    """A berth.Tensor of values that bfloat16 has exactly."""
    bits = np.ascontiguousarray(values, "f4").view("u4") >> 16
    return berth.Tensor.from_bits(bits.astype("u2"), "bfloat16")


def values_of(tensor):
    return (tensor.bits().astype("u4") << 16).view("f4")


@pytest.fixture
def every_dtype():
    shape = (3, 4)
    values = np.arange(12).reshape(shape)
    given = {name: values.astype(name) for name in NUMPY_DTYPES}
    given["bfloat16"] = bfloat16(values)
    given["bool"] = values % 2 == 0
    return given


def test_every_dtype_crosses(load, every_dtype):
    found = load("dtypes")(every_dtype)
    for name in NUMPY_DTYPES:
        assert found[name].dtype == name
        np.testing.assert_array_equal(found[name], every_dtype[name] * 2)
    assert found["bool"].dtype == bool
    np.testing.assert_array_equal(found["bool"], ~every_dtype["bool"])
    np.testing.assert_array_equal(values_of(found["bfloat16"]), np.arange(12).reshape(3, 4) * 2)


class TestShapesAndStrides:
    @pytest.fixture
    def run(self, load):
        model = load("elementwise")

        def run(x):
            y = np.linspace(-1, 1, x.shape[1], dtype="f4")
            first, second = model(x, y)
            expected = np.asarray(x) * np.sin(y) + 1
            np.testing.assert_allclose(first, expected, rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose(second, np.maximum(x, 0).sum(-1), rtol=1e-4, atol=1e-4)

        return run

    BASE = np.random.default_rng(1).standard_normal((12, 16)).astype("f4")

    @pytest.mark.parametrize(
        "view",
        [
            lambda x: x,
            lambda x: x.T,
            lambda x: x[::2, 1::3],
            lambda x: x[::-1],
            lambda x: x[::-2, ::-1],
            lambda x: np.broadcast_to(x[:1], (5, 16)),
            lambda x: np.broadcast_to(x[0, 0], (5, 6)),
            lambda x: np.asfortranarray(x),
            lambda x: np.ma.masked_array(x),
            lambda x: np.frombuffer(b"\0" + x.tobytes(), "f4", offset=1).reshape(12, 16),
            lambda x: np.rec.fromarrays([x, x.astype("i1")], names="a,b")["a"],
        ],
        ids=[
            "as it is", "transposed", "with steps", "reversed", "reversed with steps", "rows broadcast",
            "broadcast", "column-major", "masked", "misaligned", "field of records",
        ],
    )
    def test_a_view_is_read_right(self, run, view):
        run(view(self.BASE))

    def test_a_read_only_array_is_taken(self, run):
        x = self.BASE.copy()
        x.flags.writeable = False
        run(x)

    def test_no_dimensions(self, load):
        found = load("scalar")(np.array(1.5, "f4"))
        assert found.shape == () and found == 3.0

    def test_no_inputs(self, load):
        np.testing.assert_array_equal(load("nothing")(), [0, 2, 4, 6, 8])


class TestKindsOfTensors:
    @pytest.fixture
    def run(self, load):
        model = load("scalar")
        return lambda given: model(given)

    def test_a_memoryview(self, run):
        assert run(memoryview(np.array(1.5, "f4"))) == 3.0

    def test_an_array_of_the_standard_library(self, load):
        y = array.array("f", [0.5, 1.0])
        first, _ = load("elementwise")(np.ones((3, 2), "f4"), y)
        np.testing.assert_allclose(first[0], np.sin([0.5, 1.0]) + 1, rtol=1e-6)

    @pytest.mark.parametrize("versioned", [True, False])
    def test_what_has_dlpack(self, run, versioned):
        held = np.array(1.5, "f4")
        assert run(Speaker(held, versioned)) == 3.0

    def test_what_has_dlpack_is_let_go(self, run):
        class Array(np.ndarray):
            pass

        held = np.array([1.5], "f4").view(Array).reshape(())
        gone = weakref.ref(held)
        run(Speaker(held))
        del held
        gc.collect()
        assert gone() is None

    def test_an_output_of_berths_goes_in_again(self, load, every_dtype):
        model = load("dtypes")
        again = model(model(every_dtype))
        np.testing.assert_array_equal(values_of(again["bfloat16"]), np.arange(12).reshape(3, 4) * 4)

    @pytest.mark.parametrize(
        "value", [1.5, 1, True, None, "1.5", b"1234", bytearray(4), [1.5], np.float32(1.5)]
    )
    def test_a_value_that_is_no_tensor_is_refused(self, run, value):
        with pytest.raises(TypeError, match=f"expected a tensor, found {type(value).__name__}"):
            run(value)

    @pytest.mark.parametrize(
        ("value", "name"),
        [
            (np.zeros((), ">f4"), ">f4"),
            (np.zeros((), object), "object"),
            (np.zeros((), "U3"), "<U3"),
            (np.zeros((), "M8[s]"), r"datetime64\[s\]"),
            (np.zeros((), "f4,i4"), r"\[\('f0', '<f4'\), \('f1', '<i4'\)\]"),
            (np.zeros((), np.longdouble), "float128"),
        ],
    )
    def test_elements_that_are_no_numbers_of_this_machine_are_refused(self, run, value, name):
        with pytest.raises(berth.InvalidArgumentError, match=f"elements of type {name} are none"):
            run(value)

    def test_a_dlpack_that_fails_gives_its_reason(self, run):
        class Broken:
            def __dlpack__(self, **_):
                raise BufferError("not today")

        with pytest.raises(berth.InvalidArgumentError, match="not today") as caught:
            run(Broken())
        assert isinstance(caught.value.__cause__, BufferError)

    def test_a_dlpack_that_returns_something_else_is_refused(self, run):
        class Liar:
            def __dlpack__(self, **_):
                return 3

        with pytest.raises(berth.InvalidArgumentError, match="expected an unused DLPack capsule"):
            run(Liar())

    def test_a_capsule_is_taken_once(self, run):
        capsule = np.array(1.5, "f4").__dlpack__()

        class Giver:
            def __dlpack__(self, **_):
                return capsule

        assert run(Giver()) == 3.0
        with pytest.raises(berth.InvalidArgumentError, match="unused"):
            run(Giver())


class TestOutputs:
    def test_they_outlive_the_model(self, package_path):
        model = berth.load(package_path("scalar"))
        found = model(np.array(2.0, "f4"))
        model.close()
        del model
        gc.collect()
        assert found == 4.0

    def test_no_later_run_touches_them(self, load):
        model = load("scalar")
        first = model(np.array(2.0, "f4"))
        second = model(np.array(3.0, "f4"))
        assert (first, second) == (4.0, 6.0)

    def test_they_can_be_written_to(self, load):
        found, _ = load("elementwise")(np.ones((2, 3), "f4"), np.ones(3, "f4"))
        found[:] = 7
        assert found.flags.writeable and (found == 7).all()

    def test_an_argument_handed_through_is_memory_of_its_own(self, load):
        x = np.ones((3, 4), "f4")
        same, turned, added = load("alias")(x)
        x[:] = 5
        for found in (same, turned, added):
            assert (found == 1).all()
        assert turned.shape == (4, 3)

    def test_an_argument_that_the_model_writes_to_is_written_to(self, load):
        x = np.zeros((3, 4), "f4")
        np.testing.assert_array_equal(load("writes")(x), np.full((3, 4), 2))
        np.testing.assert_array_equal(x, np.ones((3, 4)))


class TestTensor:
    def test_it_says_what_it_is(self):
        tensor = bfloat16([[1, 2, 3]])
        assert (tensor.shape, tensor.strides, tensor.dtype, tensor.nbytes) == (
            (1, 3), (3, 1), "bfloat16", 6,
        )
        assert repr(tensor) == "berth.Tensor(bfloat16, [1, 3])"
        assert tensor.__dlpack_device__() == (1, 0)

    def test_its_bits_share_its_memory(self):
        tensor = bfloat16([1, 2])
        tensor.bits()[1] = 0x3F80
        np.testing.assert_array_equal(values_of(tensor), [1, 1])

    def test_numpy_has_no_such_elements(self):
        with pytest.raises(berth.UnsupportedError, match="NumPy has no bfloat16; import ml_dtypes"):
            bfloat16([1]).numpy()
        with pytest.raises(BufferError, match="no such element type"):
            memoryview(bfloat16([1]))

    def test_numpy_has_others(self):
        tensor = berth.Tensor.from_bits(np.array([[1, 2]], "u4"), "int32")
        np.testing.assert_array_equal(tensor.numpy(), [[1, 2]])
        np.testing.assert_array_equal(np.from_dlpack(tensor), [[1, 2]])
        assert memoryview(tensor).shape == (1, 2)

    def test_the_stride_of_one_row_means_nothing(self):
        row = np.arange(8, dtype="u4").reshape(2, 4)[1:][::-1]
        tensor = berth.Tensor.from_bits(row, "int32")
        np.testing.assert_array_equal(tensor.numpy(), row)

    def test_a_copy_by_dlpack_is_one(self):
        tensor = berth.Tensor.from_bits(np.array([1, 2], "u4"), "int32")
        copy = np.from_dlpack(tensor, copy=True)
        tensor.numpy()[0] = 9
        np.testing.assert_array_equal(copy, [1, 2])

    def test_another_device_is_refused(self):
        with pytest.raises(berth.UnsupportedError, match="on the CPU"):
            bfloat16([1]).__dlpack__(dl_device=(2, 0))

    def test_wrong_bits_are_refused(self):
        with pytest.raises(berth.InvalidArgumentError, match="'float3' is the name of no"):
            berth.Tensor.from_bits(np.zeros(2, "u2"), "float3")
        with pytest.raises(berth.InvalidArgumentError, match="take elements of 2 bytes, found 4"):
            berth.Tensor.from_bits(np.zeros(2, "u4"), "bfloat16")

    def test_an_unused_capsule_lets_go(self):
        for options in ({}, {"max_version": (1, 1)}):
            capsule = bfloat16([1]).__dlpack__(**options)
            assert "dltensor" in repr(capsule)
            del capsule
