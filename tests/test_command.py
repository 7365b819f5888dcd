"""The berth command on compiled models: what it prints and how it ends."""

import json

import numpy
import pytest
from command import ROOT, berth, run_json


def test_a_program_runs_without_libtorch_and_leaves_nothing(models, tmp_path):
    folder = models / "two_towers"
    report = run_json(
        folder / "model.pte", "--input", folder / "in0.npy",
        "--expect", folder / "out0.npy", "--temp-dir", tmp_path,
    )  # fmt: skip
    assert report["agrees"] and report["libtorch"] == []
    assert len(set(report["libraries"])) == 2
    assert report["files_left"] == [] and report["libraries_left"] == []
    assert all(path.startswith(str(tmp_path)) for path in report["libraries"])
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize("file", ["two_towers/model.pte", "mlp_lib/model.so"])
def test_libraries_are_placed_where_they_are_asked_to_be(models, tmp_path, file):
    arguments = (models / file, "--input", (models / file).parent / "in0.npy")
    count = 2 if file.endswith(".pte") else 1
    memory = run_json(*arguments, "--placement", "memory", "--temp-dir", tmp_path)
    assert len(memory["in_memory"]) == count and not list(tmp_path.iterdir())
    assert memory["in_memory"][0]["because"] == "" and memory["libraries_left"] == []
    assert run_json(*arguments, "--placement", "file")["in_memory"] == []
    # Where there can be no file it says so, and runs all the same.
    nowhere = ("--temp-dir", "/proc/self/no-such-place")
    fallback = run_json(*arguments, *nowhere)
    assert "no-such-place" in fallback["in_memory"][0]["because"]
    done = berth("run", *arguments, *nowhere)
    assert done.returncode == 0 and "in memory\n" in done.stdout
    done = berth("run", *arguments, *nowhere, "--placement", "file")
    assert done.returncode == 17 and "no-such-place" in done.stderr
    done = berth("run", *arguments, BERTH_PLACEMENT="disk")
    assert done.returncode == 11 and "expected 'automatic', 'file' or 'memory'" in done.stderr


def test_a_program_takes_its_weights_from_a_ptd_file(models):
    folder = models / "mlp_external"
    arguments = (folder / "model.pte", "--input", folder / "in0.npy", "--expect", folder / "out0.npy")
    assert run_json(*arguments, "--data", folder / "model.ptd")["agrees"]
    done = berth("run", *arguments)
    assert done.returncode == 12
    assert "NotFound" in done.stderr and "none were given" in done.stderr


def test_libraries_run_as_torch_packages_them(models):
    for name, data in (("mlp_lib", ()), ("mlp_lib_external", ("--data", "weights.blob"))):
        folder = models / name
        given = [folder / word if word.endswith("blob") else word for word in data]
        report = run_json(
            folder / "model.so", *given,
            "--input", folder / "in0.npy", "--expect", folder / "out0.npy",
        )  # fmt: skip
        assert report["agrees"], name


def test_replicas_run_on_threads_at_once(models):
    for file, data, count in (
        ("mlp_lib/model.so", (), 3),
        ("mlp_lib_external/model.so", ("--data", models / "mlp_lib_external/weights.blob"), 3),
        # A program's method is one thread's: each has delegates of its own.
        ("two_towers/model.pte", (), 24),
    ):
        folder = (models / file).parent
        report = run_json(
            models / file, *data, "--input", folder / "in0.npy", "--expect", folder / "out0.npy",
            "--replicas", "3", "--threads", "4", "--repeat", "400",
        )  # fmt: skip
        assert report["agrees"] and report["differing_runs"] == 0
        assert len(set(report["libraries"])) == count
        assert report["runs_per_second"] > 0
        assert report["files_left"] == [] and report["libraries_left"] == []
    done = berth("run", models / "mlp_lib/model.so", "--replicas", "2000")
    assert done.returncode == 11 and "1 to 1024 replicas" in done.stderr


def test_runs_that_differ_from_the_first_are_told(models):
    folder = models / "stateful"
    report = run_json(
        folder / "model.so", "--input", folder / "in0.npy", "--threads", "2", "--repeat", "10"
    )
    assert not report["agrees"] and report["differing_runs"] == 9


def test_outputs_are_written_and_compared(models, tmp_path):
    folder = models / "mlp"
    done = berth(
        "run", folder / "model.pte", "--input", folder / "in0.npy",
        "--output", tmp_path / "made", "--repeat", "3",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = numpy.load(tmp_path / "made/out0.npy")
    expected = numpy.load(folder / "out0.npy")
    numpy.testing.assert_allclose(found, expected, atol=1e-5)

    numpy.save(tmp_path / "wrong.npy", expected + numpy.eye(*expected.shape, dtype="float32"))
    done = berth(
        "run", folder / "model.pte", "--input", folder / "in0.npy",
        "--expect", tmp_path / "wrong.npy",
    )  # fmt: skip
    assert done.returncode == 1
    assert "DIFFERS in 2 elements, first at 0" in done.stdout


def test_inspect_tells_keys_users_and_imports(models):
    done = berth("inspect", models / "two_towers/model.pte", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    (method,) = report["methods"]
    assert method["name"] == "forward" and method["operators"] == ["aten::abs.out"]
    first, second = method["delegates"]
    assert first["library_key"] == second["library_key"]
    assert first["library_bytes"] > 0 and first["weights_bytes"] > 0
    assert first["instruction_set"]
    (library,) = report["libraries"]
    assert library["users"] == ["forward 0", "forward 1"]
    assert "aoti_torch_cpu_addmm_out" in library["library"]["served"]
    assert library["library"]["not_served"] == [] and library["library"]["missing"] == []
    assert library["library"]["refusals"] == []


def test_inspect_reads_ptd_files(models):
    folder = models / "mlp_external"
    for data, known in (((), False), (("--data", folder / "model.ptd"), True)):
        done = berth("inspect", folder / "model.pte", *data, "--json")
        (delegate,) = json.loads(done.stdout)["methods"][0]["delegates"]
        assert (delegate["weights_bytes"] is not None) == known


def test_inspect_names_what_is_not_served_and_run_refuses_it(models):
    library = models / "unserved/model.so"
    done = berth("inspect", library)
    assert done.returncode == 0
    assert "_cdist_backward" in done.stdout and "_pdist_backward" in done.stdout
    done = berth("run", library)
    assert done.returncode == 15
    assert "_cdist_backward" in done.stderr and "_pdist_backward" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["run", "{none}/gone.pte"], 12, "gone.pte"),
        (["run", "{text}"], 11, "neither"),
        (["inspect", "{text}"], 11, "neither"),
        (["run", "{cut}"], 13, ""),
        (["inspect", "{cut}"], 13, ""),
        (["run", "{pte}", "--method", "backward"], 12, "it has: forward"),
        (["run", "{pte}", "--input", "{text}"], 13, "not a .npy file"),
        (["run", "{pte}", "--data", "{none}/gone.ptd"], 12, ""),
    ],
)
def test_bad_input_is_one_line_and_a_status(models, tmp_path, arguments, status, says):
    names = {
        "none": tmp_path, "pte": models / "mlp/model.pte",
        "text": tmp_path / "text.pte", "cut": tmp_path / "cut.pte",
    }  # fmt: skip
    names["text"].write_text("this is text, not a model")
    names["cut"].write_bytes(names["pte"].read_bytes()[:1000])
    done = berth(*(argument.format(**names) for argument in arguments))
    assert done.returncode == status, done.stderr
    assert done.stderr.startswith("berth: ") and done.stderr.count("\n") == 1
    assert says in done.stderr


def test_wrong_inputs_are_refused(models, tmp_path):
    program = models / "mlp/model.pte"
    good = numpy.load(models / "mlp/in0.npy")
    wrong = {
        "rank": good[..., None],
        "size": good[:, :-1],
        "dtype": good.astype("int32"),
    }
    for name, array in wrong.items():
        numpy.save(tmp_path / f"{name}.npy", numpy.ascontiguousarray(array))
        done = berth("run", program, "--input", tmp_path / f"{name}.npy")
        assert done.returncode >= 10, name
        assert done.stderr.startswith("berth: ")
    done = berth("run", program)
    assert done.returncode >= 10


def test_help_and_version_work():
    assert "run" in berth("--help").stdout
    assert "--repeat" in berth("run", "--help").stdout
    version = berth("--version")
    text = (ROOT / "include/berth/version.h").read_text()
    assert version.returncode == 0 and f'"{version.stdout.strip()}"' in text
