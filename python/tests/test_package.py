"""Packages read from Python."""

import zipfile

import numpy as np
import pytest

import berth


@pytest.fixture
def path(package_path):
    return package_path("elementwise")


@pytest.mark.parametrize("kind", ["path", "text", "bytes", "memoryview"])
def test_a_package_says_what_is_in_it(path, kind):
    source = {
        "path": lambda: path,
        "text": lambda: str(path),
        "bytes": path.read_bytes,
        "memoryview": lambda: memoryview(path.read_bytes()),
    }[kind]()
    package = berth.Package.open(source)
    del source
    (model,) = package.models
    assert model.name == "model" and package.find().name == "model"
    assert (model.device, model.machine, model.platform) == ("cpu", "x86_64", "linux")
    assert model.instruction_set
    assert model.metadata["AOTI_DEVICE_KEY"] == "cpu"
    assert model.library.name.endswith(".so") and model.constants == "in the library"
    assert package.label == ("a package in memory" if kind in ("bytes", "memoryview") else str(path))


def test_files_are_those_of_the_archive(path):
    package = berth.Package.open(path)
    with zipfile.ZipFile(path) as archive:
        expected = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    assert [file.name for file in package.files] == list(expected)
    for file in package.files:
        assert file.size_bytes == len(expected[file.name])
        assert package.read(file.name) == expected[file.name]
        assert repr(file) == f"{file.name} ({file.size_bytes} bytes)"


def test_what_is_not_there_is_named(path):
    package = berth.Package.open(path)
    with pytest.raises(berth.NotFoundError, match="other"):
        package.find("other")
    with pytest.raises(FileNotFoundError, match="nothing.txt"):
        package.read("nothing.txt")


def test_a_package_can_go_before_its_model(path):
    package = berth.Package.open(bytearray(path.read_bytes()))
    model = berth.load(package)
    del package
    first, _ = model(np.ones((2, 3), "f4"), np.zeros(3, "f4"))
    assert (first == 1).all()


@pytest.mark.parametrize("source", [b"", b"PK", b"\x7fELF"])
def test_what_is_no_package_is_refused(source):
    with pytest.raises(berth.Error):
        berth.Package.open(source)


def test_what_is_no_source_is_refused():
    with pytest.raises(TypeError):
        berth.Package.open(3.5)
