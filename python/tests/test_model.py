"""Models called from Python: nesting, threads, closing, and what is refused."""

import collections
import gc
import pathlib
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import berth

Pair = collections.namedtuple("Pair", "low high")


@pytest.fixture
def arguments():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((4, 8)).astype("f4")
    pair = Pair(rng.standard_normal(16).astype("f4"), rng.standard_normal(3).astype("f4"))
    opts = {"w": rng.standard_normal((16, 8)).astype("f4").T, "m": np.array([True, False, True])}
    return x, pair, opts


def check_nested(found, x, pair, opts):
    y = x @ opts["w"] + pair.low
    assert type(found) is collections.OrderedDict
    assert list(found) == ["y", "parts", "none", "num", "mask", "pair"]
    np.testing.assert_allclose(found["y"], y, rtol=1e-4, atol=1e-5)
    first, (second,) = found["parts"]
    np.testing.assert_allclose(first, pair.high * 2)
    np.testing.assert_allclose(second, y.sum(-1), rtol=1e-4, atol=1e-4)
    assert found["none"] is None
    # What torch's own loader gives, too: the export keeps no Python numbers.
    assert found["num"] == 3 and found["num"].shape == ()
    np.testing.assert_array_equal(found["mask"], ~opts["m"])
    assert type(found["pair"]).__name__ == "Pair"
    np.testing.assert_allclose(found["pair"][1], pair.low + 1)


class TestNesting:
    def test_arguments_and_results_nest_as_in_the_module(self, load, arguments):
        x, pair, opts = arguments
        check_nested(load("nested")(x, pair, True, opts=opts, scale=None), x, pair, opts)

    def test_named_arguments_and_keys_may_have_another_order(self, load, arguments):
        x, pair, opts = arguments
        turned = dict(reversed(opts.items()))
        check_nested(load("nested")(x, pair, True, scale=None, opts=turned), x, pair, opts)

    def test_what_is_compiled_in_may_be_anything_but_a_tensor(self, load, arguments):
        x, pair, opts = arguments
        check_nested(load("nested")(x, pair, "yes", opts=opts, scale=2.5), x, pair, opts)
        with pytest.raises(TypeError, match="expected 5 tensors among the arguments, found 6"):
            load("nested")(x, pair, x, opts=opts, scale=None)

    def test_the_flat_lists_go_without_it(self, load, arguments):
        x, pair, opts = arguments
        model = load("nested")
        found = model.run([x, *pair, opts["w"], opts["m"]])
        assert len(found) == len(model.outputs) == 8
        np.testing.assert_allclose(found[1], pair.high * 2)

    @pytest.mark.parametrize(
        ("positional", "named", "text"),
        [
            (2, ["opts", "scale"], "expected 3 positional arguments, found 2"),
            (3, ["opts"], "missing named arguments 'scale'"),
            (3, ["opts", "scale", "more"], "unexpected named arguments 'more'"),
        ],
    )
    def test_a_wrong_call_says_what_is_wrong(self, load, arguments, positional, named, text):
        x, pair, opts = arguments
        given = {"opts": opts, "scale": None, "more": None}
        with pytest.raises(TypeError, match=f"^{text}$"):
            load("nested")(*(x, pair, True)[:positional], **{name: given[name] for name in named})

    def test_a_wrong_place_is_named(self, load, arguments):
        x, pair, opts = arguments
        with pytest.raises(TypeError, match=r"argument \['opts'\]: missing keys 'm'"):
            load("nested")(x, pair, True, opts={"w": opts["w"]}, scale=None)
        with pytest.raises(TypeError, match=r"argument \[1\]: expected a named tuple \(Pair\)"):
            load("nested")(x, tuple(pair), True, opts=opts, scale=None)


class TestSpecs:
    def test_inputs_say_what_they_take(self, load):
        first, second = load("elementwise").inputs
        assert (first.path, first.dtype) == ("[0]", "float32")
        assert first.sizes == ((2, 64), (2, 64)) and first.strides == (None, 1)
        assert (second.path, second.sizes, second.strides) == ("[1]", ((2, 64),), (1,))
        assert "float32 [2..64, 2..64]" in repr(first)

    def test_outputs_say_their_names(self, load):
        assert [spec.name for spec in load("elementwise").outputs] == ["output0", "output1"]
        assert load("elementwise").outputs[0].dtype is None

    def test_the_call_spec_is_torchs_text(self, load):
        inputs, outputs = load("elementwise").call_spec
        assert inputs.startswith('[1, {"type": "builtins.tuple"') and outputs

    def test_a_model_describes_itself(self, load):
        assert repr(load("scalar")) == "<berth.Model: 'arg0_1' [0]: float32 []; 1 outputs>"


class TestLoading:
    def test_from_a_path_of_any_kind(self, package_path):
        path = package_path("scalar")
        for source in (path, str(path), path.read_bytes(), bytearray(path.read_bytes())):
            assert berth.load(source)(np.array(1, "f4")) == 2

    def test_from_a_package(self, package_path):
        with berth.load(berth.Package.open(package_path("scalar"))) as model:
            assert model(np.array(1, "f4")) == 2

    def test_options_are_kept(self, package_path, tmp_path):
        model = berth.load(
            package_path("scalar"), placement="file", temp_directory=tmp_path, replicas=2
        )
        assert len(model.library_paths) == 2
        for path in model.library_paths:
            assert pathlib.Path(path).is_relative_to(tmp_path)
        model.close()
        assert not any(pathlib.Path(path).exists() for path in model.library_paths)

    def test_errors_have_a_class_and_a_code(self, package_path, tmp_path):
        nowhere = tmp_path / "nowhere.pt2"
        with pytest.raises(FileNotFoundError, match="^NotFound: .*nowhere.pt2") as caught:
            berth.load(nowhere)
        assert isinstance(caught.value, berth.NotFoundError)
        assert caught.value.code is berth.Code.NOT_FOUND
        with pytest.raises(berth.CorruptError, match="^Corrupt: "):
            berth.load(package_path("scalar").read_bytes()[:1000])
        with pytest.raises(ValueError, match="placement 'disk'"):
            berth.load(package_path("scalar"), placement="disk")
        with pytest.raises(berth.InvalidArgumentError, match='"wait" or "fail"'):
            berth.load(package_path("scalar"), when_busy="maybe")
        with pytest.raises(berth.InvalidArgumentError, match="replicas"):
            berth.load(package_path("scalar"), replicas=0)
        with pytest.raises(berth.NotFoundError, match="other"):
            berth.load(package_path("scalar"), model_name="other")
        with pytest.raises(TypeError):
            berth.load(3)


class TestRunning:
    def test_a_wrong_size_names_the_input(self, load):
        with pytest.raises(berth.InvalidArgumentError, match=r"\[0\]: float32 \[2\.\.64, 2\.\.64\], found"):
            load("elementwise")(np.zeros((65, 2), "f4"), np.zeros(2, "f4"))

    def test_a_wrong_dtype_names_the_input(self, load):
        with pytest.raises(berth.InvalidArgumentError, match="float64"):
            load("scalar")(np.zeros((), "f8"))

    def test_a_wrong_number_of_inputs_is_refused(self, load):
        with pytest.raises(berth.InvalidArgumentError, match="takes 1 inputs, found 2"):
            load("scalar").run([np.zeros((), "f4")] * 2)

    @pytest.mark.parametrize("value", [3, np.zeros((1,), "f4"), "x"])
    def test_inputs_must_be_in_a_list(self, load, value):
        with pytest.raises(TypeError, match="list or a tuple"):
            load("scalar").run(value)

    def test_a_refused_input_keeps_none_of_the_others(self, load):
        x = np.ones((3, 4), "f4")
        before = sys.getrefcount(x)
        for _ in range(10):
            with pytest.raises(TypeError, match="input 1"):
                load("elementwise").run([x, None])
        assert sys.getrefcount(x) == before

    def test_a_closed_model_refuses(self, package_path):
        with berth.load(package_path("scalar")) as model:
            pass
        with pytest.raises(berth.InvalidArgumentError, match="closed"):
            model(np.zeros((), "f4"))
        model.close()
        assert model.inputs[0].dtype == "float32"

    def test_nothing_leaks_over_many_runs(self, load):
        model, x, y = load("elementwise"), np.ones((3, 4), "f4"), np.ones(4, "f4")
        for _ in range(100):
            model(x, y)
        gc.collect()
        references = sys.getrefcount(x), sys.getrefcount(y)
        for _ in range(1000):
            model(x, y)
        assert (sys.getrefcount(x), sys.getrefcount(y)) == references


class TestThreads:
    @pytest.fixture
    def x(self):
        return np.full((1024, 1024), 1 / 1024, "f4")

    def test_python_goes_on_while_a_model_runs(self, load, x):
        model, done, turns = load("slow"), threading.Event(), 0
        model(x)

        def run():
            for _ in range(5):
                model(x)
            done.set()

        thread = threading.Thread(target=run)
        began = time.perf_counter()
        thread.start()
        longest = 0.0
        while not done.is_set():
            before = time.perf_counter()
            time.sleep(0)
            longest = max(longest, time.perf_counter() - before)
            turns += 1
        thread.join()
        took = time.perf_counter() - began
        # Had the GIL been held, one turn would have taken as long as a run.
        assert turns > 50 and longest < took / 5 / 2, (turns, longest, took)

    def test_runs_beyond_the_replicas_fail_where_that_is_asked_for(self, package_path, x):
        model = berth.load(package_path("slow"), when_busy="fail")
        refused, found = [], []

        def run():
            for _ in range(10):
                try:
                    found.append(model(x))
                except berth.BusyError as error:
                    refused.append(error)

        threads = [threading.Thread(target=run) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert refused and found
        assert all(error.code is berth.Code.BUSY for error in refused)

    def test_many_threads_get_their_own_results(self, package_path):
        model = berth.load(package_path("scalar"), replicas=3)
        wrong = []

        def run(n):
            for i in range(200):
                if model(np.array(n * 1000 + i, "f4")) != 2 * (n * 1000 + i):
                    wrong.append((n, i))

        threads = [threading.Thread(target=run, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong

    def test_closing_waits_for_runs(self, package_path, x):
        model = berth.load(package_path("slow"))
        found, began = [], threading.Event()

        def run():
            began.set()
            found.append(model(x))

        thread = threading.Thread(target=run)
        thread.start()
        began.wait()
        time.sleep(0.01)
        model.close()
        thread.join()
        assert len(found) == 1


def test_libraries_are_gone_when_the_process_ends(package_path, tmp_path):
    code = f"import berth; model = berth.load({str(package_path('scalar'))!r}, temp_directory={str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert not list(tmp_path.rglob("*.so"))


def test_importing_opens_nothing():
    code = "import sys, berth; assert not {'numpy', 'torch', 'berth._native'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_missing_library_folder_is_told(tmp_path):
    import os

    done = subprocess.run(
        [sys.executable, "-c", "import berth; berth.load"],
        env=dict(os.environ, BERTH_LIBRARY_DIR=str(tmp_path)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"ImportError: berth._native is not in {tmp_path}; install berth-runtime" in done.stderr
