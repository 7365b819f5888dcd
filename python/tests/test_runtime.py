"""Berth and executorch's Python runtime, beside torch and torch's own loader.

Each case is a process of its own: what was loaded first is what is tested.
"""

import itertools
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

COMMON = """
import os, sys
import numpy

def check(found, name):
    import torch
    expected = torch.from_numpy(numpy.load(name))
    assert torch.allclose(found, expected, atol=1e-5), (found - expected).abs().max()

def run_berth():
    import torch
    from executorch.runtime import Runtime
    method = Runtime.get().load_program("two_towers/model.pte").load_method("forward")
    x = torch.from_numpy(numpy.load("two_towers/in0.npy"))
    for _ in range(3):
        check(method.execute([x])[0], "two_towers/out0.npy")
    return method

def run_torch():
    import torch
    runner = torch._inductor.aoti_load_package("mlp_lib/model.pt2")
    check(runner(torch.from_numpy(numpy.load("mlp_lib/in0.npy"))), "mlp_lib/out0.npy")
    return runner

def run_berth_alone():
    import berth
    model = berth.load("mlp_lib/model.pt2")
    found = model(numpy.load("mlp_lib/in0.npy"))
    numpy.testing.assert_allclose(found, numpy.load("mlp_lib/out0.npy"), atol=1e-5)
    return model

def own_files():
    with open("/proc/self/maps") as maps:
        return {line.split()[-1] for line in maps if "/berth_" in line}
"""


@pytest.fixture(scope="session")
def models(made) -> pathlib.Path:
    return made("two_towers", "mlp_lib", "int_div")


def run(code: str, models: pathlib.Path, **environment: str) -> subprocess.CompletedProcess:
    environment = dict(os.environ, **environment)
    if "PYTHONPATH" in environment:  # Relative, maybe; the wheel's tests have none.
        environment["PYTHONPATH"] = str(ROOT / "python")
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", COMMON + textwrap.dedent(code)],
        cwd=models,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_two_identical_partitions_run_beside_torch(models):
    done = run(
        """
        import berth.executorch
        method = run_berth()
        assert len(own_files()) == 2, own_files()
        del method
        import gc; gc.collect()
        assert not own_files(), own_files()
        """,
        models,
    )
    assert done.returncode == 0, done.stderr


def test_a_library_goes_while_the_thread_that_failed_in_it_lives_on(models):
    done = run(
        """
        import threading
        import torch
        import berth.executorch
        from executorch.runtime import Runtime

        method = Runtime.get().load_program("int_div/model.pte").load_method("forward")
        inputs = [torch.from_numpy(numpy.load(f"int_div/in{i}.npy")) for i in range(2)]
        inputs[1].view(-1)[3] = 0
        failed, gone = threading.Event(), threading.Event()

        def fail_and_stay():
            try:
                method.execute(inputs)
            except RuntimeError:
                failed.set()
            gone.wait()

        thread = threading.Thread(target=fail_and_stay)
        thread.start()
        assert failed.wait(60)
        assert len(own_files()) == 1, own_files()
        del method
        import gc; gc.collect()
        assert not own_files(), own_files()
        assert thread.is_alive()
        gone.set()
        thread.join()
        """,
        models,
    )
    assert done.returncode == 0, done.stderr


def test_torchs_own_loader_and_berth_are_both_right(models):
    done = run(
        """
        import berth.executorch
        method = run_berth()
        runner = run_torch()
        run_berth()
        run_torch()
        """,
        models,
    )
    assert done.returncode == 0, done.stderr


def test_both_are_right_when_torch_comes_first_and_global(models):
    done = run(
        """
        sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)
        import torch
        sys.setdlopenflags(os.RTLD_NOW)
        runner = run_torch()
        import berth.executorch
        method = run_berth()
        run_torch()
        run_berth()
        """,
        models,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("order", map("".join, itertools.permutations("tbe")))
def test_torchs_loader_berth_and_executorchs_runtime_are_right_in_any_order(models, order):
    """Torch and Berth run the same package; executorch has Berth's backend."""
    done = run(
        f"""
        def run_executorch():
            import berth.executorch
            return run_berth()

        runners = dict(t=run_torch, b=run_berth_alone, e=run_executorch)
        kept = [runners[each]() for each in {order + order!r}]
        libraries = set(line.split()[-1] for line in open("/proc/self/maps") if "libberth.so" in line)
        assert len(libraries) == 1, libraries
        """,
        models,
    )
    assert done.returncode == 0, done.stderr


def test_importing_twice_is_harmless(models):
    done = run(
        """
        import importlib, berth.executorch
        importlib.reload(berth.executorch)
        run_berth()
        """,
        models,
    )
    assert done.returncode == 0, done.stderr


def test_a_missing_library_says_where_it_was_looked_for(models, tmp_path):
    done = run("import berth.executorch", models, BERTH_LIBRARY_DIR=str(tmp_path))
    assert done.returncode != 0
    assert "ImportError" in done.stderr
    assert str(tmp_path) in done.stderr


def test_a_spoiled_program_is_an_exception(models, tmp_path):
    spoiled = tmp_path / "spoiled.pte"
    spoiled.write_bytes((models / "two_towers/model.pte").read_bytes()[:4000])
    done = run(
        f"""
        import berth.executorch
        from executorch.runtime import Runtime
        try:
            Runtime.get().load_program({str(spoiled)!r}).load_method("forward")
        except (RuntimeError, ValueError):
            print("refused")
        """,
        models,
    )
    assert done.returncode == 0, done.stderr
    assert "refused" in done.stdout
