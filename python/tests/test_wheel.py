"""The wheel, built as `pip install .` builds it, in environments of its own.

The tests of the package run against it twice: where there is no torch, and
beside torch. Building takes minutes, and pip fetches what it builds with.
"""

import os
import pathlib
import subprocess
import sys
import zipfile

import cases
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTS = ROOT / "python" / "tests"

# What the tests without torch need of the folder of fixtures.
FIXTURES = (
    "nested", "elementwise", "dtypes", "scalar", "nothing", "writes", "alias", "slow", "wide_lib",
    *cases.SERVED, "unserved",
)  # fmt: skip

pytestmark = pytest.mark.skipif(
    "BERTH_IN_WHEEL_TEST" in os.environ, reason="this is the wheel's own environment"
)


def run(*command, **environment: str) -> subprocess.CompletedProcess:
    """Without anything of the checkout's on Python's path."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "BERTH_LIBRARY_DIR")
    }
    done = subprocess.run(
        [os.fspath(word) for word in command],
        cwd=ROOT,
        env=kept | {"BERTH_IN_WHEEL_TEST": "1"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-4000:]
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> pathlib.Path:
    out = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", ROOT, "--no-deps", "--wheel-dir", out)
    (found,) = out.glob("berth_runtime-*.whl")
    return found


def environment(folder: pathlib.Path, *packages) -> pathlib.Path:
    """A new virtual environment's Python."""
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    python = folder / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", *packages)
    return python


@pytest.fixture(scope="module")
def bare_python(wheel, tmp_path_factory) -> pathlib.Path:
    """One with Berth and no torch."""
    return environment(tmp_path_factory.mktemp("bare"), wheel, "pytest", "hypothesis")


@pytest.fixture(scope="module")
def torch_python(wheel, tmp_path_factory) -> pathlib.Path:
    """One with Berth that sees what is installed for this Python, torch included."""
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("torch")
    python = environment(folder, "--no-deps", wheel)
    (packages,) = folder.glob("lib/python*/site-packages")
    shared = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "shared.pth").write_text("\n".join(shared), encoding="utf-8")
    return python


@pytest.fixture(scope="module")
def fixtures(made) -> str:
    return str(made(*FIXTURES))


def test_the_wheel_holds_its_libraries(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    libraries = {pathlib.Path(name).name for name in names if name.startswith("berth/lib/")}
    assert {"libberth.so.0", "libgomp.so.1", "libsleef.so.3"} <= libraries
    assert any(name.startswith("libdnnl.so.") for name in libraries)
    assert any(name.startswith("_native.") for name in libraries)
    licences = {pathlib.Path(name).stem for name in names if name.startswith("berth/lib/licences/")}
    assert {"libgomp1", "libsleef3"} <= licences
    assert any(name.startswith("libdnnl") for name in licences)
    assert {"berth/py.typed", "berth/_native.pyi", "berth/export/served.inc"} <= names


def test_no_library_says_where_it_was_built(wheel):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            assert str(ROOT).encode() not in archive.read(name), name


def test_it_needs_nothing_but_numpy(bare_python):
    code = "import importlib.metadata as m; print(m.requires('berth-runtime'), m.version('berth-runtime'))"
    header = (ROOT / "include/berth/version.h").read_text(encoding="utf-8")
    version = header.rpartition('BERTH_VERSION "')[2].split('"')[0]
    said = run(bare_python, "-c", code).stdout
    assert said.endswith(f" {version}\n")
    assert [word for word in said.split("'") if word[:1].isalpha() and "extra" not in word] == ["numpy>=1.23"]


def test_it_works_without_torch(bare_python, fixtures):
    names = ("pytree", "model", "tensors", "package", "surveyed")
    tests = [TESTS / f"test_{name}.py" for name in names]
    run(bare_python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, BERTH_MODELS=fixtures)


def test_its_own_libraries_are_used_and_no_torch(bare_python, fixtures):
    code = f"""
import sys
import importlib.util
import numpy as np
import berth

model = berth.load("{fixtures}/wide_lib/model.so")  # Large products: oneDNN.
found = model(np.load("{fixtures}/wide_lib/in0.npy"))
np.testing.assert_allclose(found, np.load("{fixtures}/wide_lib/out0.npy"), atol=1e-4)
sines = berth.load("{fixtures}/elementwise/model.pt2")  # Vector math: SLEEF.
sines(np.ones((9, 33), "f4"), np.ones(33, "f4"))
assert importlib.util.find_spec("torch") is None

with open("/proc/self/maps") as maps:
    mapped = set(line.split()[-1] for line in maps if ".so" in line)
for name in ("libberth", "libdnnl", "libsleef", "libgomp", "libOpenCL"):
    found = [path for path in mapped if name in path]
    assert all(path.startswith(sys.prefix) for path in found), found
    assert len(found) == 1, (name, found)
"""
    run(bare_python, "-c", code)


def test_it_says_what_registering_needs(bare_python):
    code = """
try:
    import berth.executorch
except ImportError as error:
    assert "executorch" in str(error), error
else:
    raise AssertionError("there is no executorch")
"""
    run(bare_python, "-c", code)


def test_it_works_beside_torch(torch_python, made):
    # Not what never leaves Python, nor what compiles for minutes.
    left_out = ("test_wheel.py", "test_pytree.py", "test_export.py")
    tests = sorted(test for test in TESTS.glob("test_*.py") if test.name not in left_out)
    given = os.environ.get("BERTH_MODELS")
    environment = {"BERTH_MODELS": given} if given else {}
    code = "import berth, sys; assert berth.__file__.startswith(sys.prefix), berth.__file__"
    run(torch_python, "-c", code)
    run(torch_python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, **environment)
