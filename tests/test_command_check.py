"""berth check: what is missing, all of it, before anything is mapped."""

import json
import pathlib

import pytest
from command import berth


def check(*arguments, status) -> list[dict]:
    done = berth("check", *arguments, "--json")
    assert done.returncode == status, done.stdout + done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def findings(report: dict) -> list[str]:
    return [finding["text"] for part in report["parts"] for finding in part["findings"]]


def spoiled(source, target, old: bytes, new: bytes):
    """A copy of a file with all of `old` replaced by as many bytes."""
    content = source.read_bytes()
    assert content.count(old) > 0 and len(old) == len(new)
    target.write_bytes(content.replace(old, new))
    return target


@pytest.mark.parametrize(
    "name", ["two_towers/model.pte", "mlp/model.pte", "mlp_lib/model.so", "stateful/model.so"]
)
def test_what_can_be_run_says_so(models, name):
    (report,) = check(models / name, status=0)
    assert report["runs"] and findings(report) == []
    done = berth("check", models / name)
    assert done.returncode == 0 and done.stdout == f"{models / name}: can be run here\n"


def test_operators_that_are_not_served_are_named(models):
    path = models / "unserved/model.so"
    (report,) = check(path, status=15)
    assert not report["runs"] and report["kind"] == "library"
    (part,) = report["parts"]
    assert {finding["code"] for finding in part["findings"]} == {"Unsupported"}
    assert sorted(part["not_served"]) == ["aoti_torch_cpu__cdist_backward", "aoti_torch_cpu__pdist_backward"]
    done = berth("check", path)
    assert "operator '_cdist_backward' is not served (import aoti_torch_cpu__cdist_backward)" in done.stdout
    assert "operator '_pdist_backward' is not served" in done.stdout
    # As `berth run` would say, had it been asked.
    assert berth("run", path).returncode == done.returncode


def test_weights_that_no_file_has_are_named(models):
    folder = models / "mlp_external"
    (report,) = check(folder / "model.pte", status=12)
    (text,) = findings(report)
    assert text.startswith("delegate 0: no weights of key") and "weights_blob" in text
    check(folder / "model.pte", "--data", folder / "model.ptd", status=0)


def test_a_program_is_told_all_that_this_command_lacks(models, tmp_path):
    program = tmp_path / "other.pte"
    spoiled(models / "two_towers/model.pte", program, b"aten::abs", b"aten::abz")
    check(program, status=15)
    assert berth("run", program).returncode == 15
    spoiled(program, program, b"BerthBackend", b"OtherBackend")
    (report,) = check(program, status=15)
    assert findings(report) == [
        "delegate 0: its backend 'OtherBackend' is not in this command",
        "delegate 1: its backend 'OtherBackend' is not in this command",
        "operator 'aten::abz.out' has no kernel in this command",
    ]
    assert report["parts"][0]["name"] == "method forward"


def test_another_cpus_instructions_are_refused(models, tmp_path):
    recorded = b"\6\0\0\0AVX512\0\0"
    original = models / "two_towers/model.pte"
    if recorded not in original.read_bytes():
        pytest.skip("the models were not compiled for AVX512")
    if "amx_tile" in pathlib.Path("/proc/cpuinfo").read_text():
        pytest.skip("this CPU runs everything that the test knows")
    program = spoiled(original, tmp_path / "isa.pte", recorded, b"\x08\0\0\0AMX_TILE")
    (report,) = check(program, status=14)
    # Both delegates have one library, which is examined once.
    assert findings(report) == ["it was compiled for AMX_TILE, which this CPU does not run"]
    assert report["parts"][1]["name"].endswith("of forward 0, forward 1")
    assert berth("run", program).returncode == 14


def test_what_a_library_lacks_comes_before_what_berth_lacks(models, tmp_path):
    library = spoiled(
        models / "unserved/model.so", tmp_path / "model.so", b"libstdc++.so.6", b"libstdc--.so.6"
    )
    (report,) = check(library, status=14)
    texts = findings(report)
    assert "library 'libstdc--.so.6' is not found" in texts
    assert "_pdist_backward" in "".join(texts[-2:]) and "_cdist_backward" in "".join(texts[-2:])


def test_files_that_cannot_be_read_are_findings(models, tmp_path):
    (tmp_path / "text.pte").write_text("this is text, not a model")
    (tmp_path / "cut.pte").write_bytes((models / "mlp/model.pte").read_bytes()[:1000])
    (tmp_path / "cut.so").write_bytes((models / "mlp_lib/model.so").read_bytes()[:1000])
    for name, status, says in (
        ("gone.pte", 12, "cannot open"),
        ("text.pte", 11, "neither"),
        ("cut.pte", 13, ""),
        ("cut.so", 13, "cut short"),
    ):
        (report,) = check(tmp_path / name, status=status)
        assert says in "".join(findings(report)), name


def test_several_files_are_all_told_and_the_first_fault_counts(models, tmp_path):
    good, bad, gone = models / "mlp/model.pte", models / "unserved/model.so", tmp_path / "gone.so"
    reports = check(good, bad, gone, status=15)
    assert [report["runs"] for report in reports] == [True, False, False]
    check(good, gone, bad, status=12)
