"""The exporter, on programs that it really compiles (kept by tests/models)."""

import subprocess
import sys
from pathlib import Path

import numpy
import pytest

torch = pytest.importorskip("torch", reason="the exporter needs torch")
pytest.importorskip("executorch", reason="the exporter needs executorch")

from executorch.exir._serialize._program import deserialize_pte_binary  # noqa: E402
from torch._inductor import cpp_builder  # noqa: E402

from berth.export import UnsupportedOperatorError, export_pte  # noqa: E402

_MODELS = Path(__file__).resolve().parents[2] / "tests" / "models"
sys.path.insert(0, str(_MODELS))
import make  # noqa: E402


class Tower(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(16, 16)

    def forward(self, x):
        return self.linear(x)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    out = tmp_path_factory.mktemp("models")
    names = ["two_towers", "two_different", "mlp", "mlp_external", "no_weights"]
    make.make([*names, "multi_method", "stateful"], out)
    return out


def opened(path):
    return deserialize_pte_binary(path.read_bytes())


def calls(program, method=0):
    """What a method does, in order: "berth" for a delegate, else an operator."""
    plan = program.program.execution_plan[method]
    steps = []
    for instruction in plan.chains[0].instructions:
        args = instruction.instr_args
        if hasattr(args, "delegate_index"):
            steps.append("berth")
        elif hasattr(args, "op_index"):
            steps.append(plan.operators[args.op_index].name)
    return steps


def keys(program, method=0):
    data = program.program.backend_delegate_data
    return [
        data[delegate.processed.index].data.decode().split("\n")
        for delegate in program.program.execution_plan[method].delegates
    ]


def named(program):
    data = program.named_data
    return {key: data.buffers[e.buffer_index] for key, e in data.pte_data.items()}


def test_keep_out_splits_the_graph(models):
    program = opened(models / "two_towers" / "model.pte")
    assert calls(program) == ["berth", "aten::abs", "berth"]
    delegates = program.program.execution_plan[0].delegates
    assert [delegate.id for delegate in delegates] == ["BerthBackend"] * 2


def test_equal_partitions_share_both_keys(models):
    program = opened(models / "two_towers" / "model.pte")
    first, second = keys(program)
    assert first == second
    assert first[0].endswith("_so_blob") and first[1].endswith("_weights_blob")
    assert set(named(program)) == set(first)


def test_different_partitions_share_none(models):
    first, second = keys(opened(models / "two_different" / "model.pte"))
    assert set(first).isdisjoint(second)


def test_methods_share_an_equal_partition(models):
    program = opened(models / "multi_method" / "model.pte")
    assert [p.name for p in program.program.execution_plan] == ["forward", "other"]
    assert calls(program, 0) == ["berth", "aten::abs"]
    assert calls(program, 1) == ["aten::abs", "berth"]
    assert keys(program, 0) == keys(program, 1)


def test_the_instruction_set_is_recorded(models):
    program = opened(models / "mlp" / "model.pte")
    (delegate,) = program.program.execution_plan[0].delegates
    specs = {spec.key: bytes(spec.value) for spec in delegate.compile_specs}
    assert specs["instruction_set"] in (b"AVX512", b"AVX2", b"SCALAR", b"ASIMD")
    assert specs["method_name"] == b"forward"


def test_libraries_are_stripped_and_name_no_path(models, tmp_path):
    program = opened(models / "mlp" / "model.pte")
    library = tmp_path / "mlp.so"
    library.write_bytes(named(program)[keys(program)[0][0]])
    listing = subprocess.run(
        ["readelf", "-SWd", library], capture_output=True, text=True, check=True
    ).stdout
    for gone in (".debug_", ".symtab", ".note.gnu.build-id", "libtorch", "libc10"):
        assert gone not in listing
    assert ".dynsym" in listing
    for path in (b"/tmp/", b"site-packages", str(Path.home()).encode() + b"/"):
        assert path not in library.read_bytes()


def test_external_weights_lie_in_a_ptd(models):
    inside = opened(models / "mlp" / "model.pte")
    outside = opened(models / "mlp_external" / "model.pte")
    so_key, weights_key = keys(outside)[0]
    assert keys(inside) == keys(outside)
    assert set(named(outside)) == {so_key}
    ptd = (models / "mlp_external" / "model.ptd").read_bytes()
    assert ptd[4:8] == b"FT01"
    assert named(inside)[weights_key] in ptd
    assert weights_key.encode() in ptd


def test_a_model_without_constants_has_an_empty_blob(models):
    program = opened(models / "no_weights" / "model.pte")
    ((so_key, weights_key),) = keys(program)
    data = named(program)
    assert bytes(data[weights_key]) == b""
    assert bytes(data[so_key][:4]) == b"\x7fELF"


def test_a_mutated_buffer_stays_in_its_delegate(models):
    program = opened(models / "stateful" / "model.pte")
    assert calls(program) == ["berth"]
    # One tensor in, one out: the state is no argument, but part of the weights.
    (call,) = program.program.execution_plan[0].chains[0].instructions
    assert len(call.instr_args.args) == 2
    assert len(named(program)[keys(program)[0][1]]) == 64


def test_fixtures_hold_inputs_and_eager_outputs(models):
    folder = models / "mlp"
    assert numpy.load(folder / "in0.npy").shape == (2, 64)
    assert numpy.load(folder / "out0.npy").shape == (2, 10)


def test_two_processes_write_the_same_bytes(models, tmp_path):
    """No build directory, no process and no time is left in a program."""
    make.build("mlp", str(tmp_path))
    again = (tmp_path / "mlp" / "model.pte").read_bytes()
    assert again == (models / "mlp" / "model.pte").read_bytes()


def test_an_unserved_operator_is_an_error_that_names_all(tmp_path, monkeypatch):
    def compiled(command, cwd):
        raise AssertionError(f"the compiler ran before the check: {command}")

    monkeypatch.setattr(cpp_builder, "run_compile_cmd", compiled)

    class Needy(torch.nn.Module):
        def forward(self, x):
            median = torch.median(x, dim=1).values
            grads = torch.ops.aten
            of_points = grads._cdist_backward(x, x, x, 2.0, x.abs())
            of_pairs = grads._pdist_backward(x.flatten()[:6], x, 2.0, x.flatten()[:6].abs())
            return of_points, median, of_pairs

    with pytest.raises(UnsupportedOperatorError) as caught:
        export_pte(Needy(), (torch.randn(4, 4),), tmp_path / "needy.pte")
    wanted = ["aoti_torch_cpu__cdist_backward", "aoti_torch_cpu__pdist_backward", "aten::median.dim"]
    assert caught.value.operators == wanted
    for name in wanted:
        assert name in str(caught.value)
    assert "method 'forward'" in str(caught.value)
    assert isinstance(caught.value, RuntimeError)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["abz", "aten.abs.nosuch", "nowhere::abs", "", "a.b.c.d"]
)
def test_an_unknown_name_to_keep_out_is_an_error(name, tmp_path):
    with pytest.raises(ValueError, match="unknown operator") as caught:
        export_pte(Tower(), (torch.randn(1, 16),), tmp_path / "m.pte", keep_out=[name])
    assert repr(name) in str(caught.value)


def test_all_operators_may_be_kept_out(tmp_path):
    report = export_pte(
        Tower().eval(), (torch.randn(1, 16),), tmp_path / "m.pte", keep_out=["linear"]
    )
    assert report.delegates == () and report.shared_keys == ()
    assert calls(opened(report.path)) == ["aten::linear"]


def test_an_unknown_instruction_set_lists_the_known(tmp_path):
    with pytest.raises(ValueError, match="'MMX' is none of: .*SCALAR"):
        export_pte(
            Tower(), (torch.randn(1, 16),), tmp_path / "m.pte", instruction_set="MMX"
        )


def test_a_path_must_end_in_pte(tmp_path):
    with pytest.raises(ValueError, match="ends in .pte, found '.*m.bin'"):
        export_pte(Tower(), (torch.randn(1, 16),), tmp_path / "m.bin")
