"""The berth command on packages: .pt2 files with one model or several."""

import json
import zipfile

import cases
import numpy
import pytest
from command import berth, run_json


def repacked(source, target, change):
    """A copy of a package; `change` gives for each name and content a list of such pairs."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            for each, content in change(name, old.read(name)):
                new.writestr(each, content)
    return target


@pytest.fixture(scope="module")
def pair(models, tmp_path_factory):
    """A package of two models, "left" and "right"."""

    def change(name, content):
        folder = "aotinductor/model/"
        if folder not in name:
            return [(name, content)]
        return [(name.replace(folder, f"aotinductor/{m}/"), content) for m in ("left", "right")]

    target = tmp_path_factory.mktemp("pair") / "pair.pt2"
    return repacked(models / "mlp_lib/model.pt2", target, change)


@pytest.mark.parametrize("name", ["mlp_lib", "mlp_lib_external"])
def test_packages_run_and_tell_their_inputs(models, tmp_path, name):
    folder = models / name
    arguments = (
        folder / "model.pt2", "--input", folder / "in0.npy", "--expect", folder / "out0.npy",
        "--temp-dir", tmp_path, "--repeat", "3",
    )  # fmt: skip
    report = run_json(*arguments)
    assert report["agrees"] and report["libtorch"] == []
    assert report["files_left"] == [] and report["libraries_left"] == []
    (spec,) = report["inputs"]
    assert spec["dtype"] == "float32" and len(spec["sizes"]) == 2
    done = berth("run", *arguments)
    assert done.returncode == 0 and f"input '{spec['name']}'" in done.stdout
    assert "float32 [" in done.stdout and "agrees" in done.stdout


@pytest.mark.parametrize("name", cases.SERVED)
def test_surveyed_models_agree_with_eager(models, name):
    folder = models / name
    inputs, outputs = cases.arrays(folder, "in"), cases.arrays(folder, "out")
    arguments = [f"--input={path}" for path in inputs] + [f"--expect={path}" for path in outputs]
    report = run_json(folder / "model.pt2", *arguments)
    assert inputs and outputs and report["agrees"] and report["libtorch"] == []


def test_operators_that_nobody_registered_are_named(models):
    package = models / "custom_operator_pkg/model.pt2"
    done = berth("check", package)
    assert done.returncode == 15
    assert "'berth_test::soft_clip'" in done.stdout, done.stdout
    done = berth("run", package, "--input", package.parent / "in0.npy")
    assert done.returncode == 15 and "'berth_test::soft_clip'" in done.stderr, done.stderr


def test_without_inputs_the_error_says_what_they_are(models):
    done = berth("run", models / "mlp_lib/model.pt2")
    assert done.returncode == 11
    assert "takes 1 inputs, found 0: input '" in done.stderr and "float32 [" in done.stderr


def test_a_model_is_chosen_by_its_name(models, pair):
    folder = models / "mlp_lib"
    arrays = ("--input", folder / "in0.npy", "--expect", folder / "out0.npy")
    for name in ("left", "right"):
        assert run_json(pair, "--model", name, *arrays)["agrees"]
    done = berth("run", pair, *arrays)
    assert done.returncode == 12 and "left" in done.stderr and "right" in done.stderr
    assert berth("run", pair, "--model", "middle", *arrays).returncode == 12
    assert run_json(folder / "model.pt2", "--model", "model", *arrays)["agrees"]
    # What has no models to choose from says so.
    done = berth("run", folder / "model.so", "--model", "left", *arrays)
    assert done.returncode == 11 and "no package" in done.stderr


def test_a_package_takes_no_weights_from_elsewhere(models):
    folder = models / "mlp_lib_external"
    done = berth("run", folder / "model.pt2", "--data", folder / "weights.blob")
    assert done.returncode == 11 and "holds its weights" in done.stderr


def test_inspect_tells_models_metadata_and_files(models, pair):
    path = models / "mlp_lib_external/model.pt2"
    report = json.loads(berth("inspect", path, "--json").stdout)
    (model,) = report["models"]
    assert model["name"] == "model" and model["device"] == "cpu"
    assert model["metadata"]["AOTI_DEVICE_KEY"] == "cpu" and model["instruction_set"]
    assert model["constants"] == "in one blob" and len(model["constant_files"]) == 1
    assert model["library_file"].endswith(".so")
    assert model["library_file"] in {file["name"] for file in model["files"]}
    assert "aoti_torch_cpu_addmm_out" in model["library"]["served"]
    assert model["library"]["refusals"] == []

    done = berth("inspect", path)
    assert done.returncode == 0
    for words in ("1 models", "in one blob", "AOTI_DEVICE_KEY=cpu", "loadable here   yes"):
        assert words in done.stdout

    report = json.loads(berth("inspect", pair, "--json").stdout)
    assert [model["name"] for model in report["models"]] == ["left", "right"]
    report = json.loads(berth("inspect", pair, "--json", "--model", "right").stdout)
    assert [model["name"] for model in report["models"]] == ["right"]
    assert berth("inspect", pair, "--model", "middle").returncode == 12


def test_check_says_whether_packages_run(models, pair):
    for path, arguments, parts in (
        (models / "mlp_lib/model.pt2", (), ["model model"]),
        (pair, (), ["model left", "model right"]),
        (pair, ("--model", "right"), ["model right"]),
    ):
        done = berth("check", path, "--json", *arguments)
        assert done.returncode == 0, done.stdout
        (report,) = json.loads(done.stdout)
        assert report["runs"] and report["kind"] == "package"
        assert [part["name"] for part in report["parts"]] == parts


def test_check_names_operators_and_foreign_machines(models, tmp_path):
    done = berth("check", models / "unserved/model.pt2")
    assert done.returncode == 15
    assert "'_cdist_backward'" in done.stdout and "'_pdist_backward'" in done.stdout

    def change(name, content):
        if name.endswith("_metadata.json"):
            content = content.replace(b'"cpu"', b'"cuda"').replace(b'"x86_64"', b'"riscv64"')
        return [(name, content)]

    package = repacked(models / "unserved/model.pt2", tmp_path / "foreign.pt2", change)
    done = berth("check", package)
    assert done.returncode == 14
    for words in ("machine 'riscv64', here it is", "device 'cuda', here it is 'cpu'", "'_cdist_backward'"):
        assert words in done.stdout


def test_check_reads_the_weights(models, tmp_path):
    path = models / "mlp_lib_external/model.pt2"
    sound = path.read_bytes()
    with zipfile.ZipFile(path) as package:
        (weights,) = [name for name in package.namelist() if name.endswith(".blob")]
        at = sound.index(package.read(weights)[:4096]) + 2000
    (tmp_path / "bad.pt2").write_bytes(sound[:at] + bytes([sound[at] ^ 1]) + sound[at + 1 :])
    done = berth("check", tmp_path / "bad.pt2")
    assert done.returncode == 13 and ".blob" in done.stdout


def test_an_archive_of_arrays_is_no_package(tmp_path):
    numpy.savez(tmp_path / "arrays.npz", numpy.ones(3))
    for command in ("run", "inspect"):
        done = berth(command, tmp_path / "arrays.npz")
        assert done.returncode == 14 and done.stderr.count("\n") == 1
    assert berth("check", tmp_path / "arrays.npz").returncode == 14
