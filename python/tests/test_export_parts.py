"""The exporter's parts that need no compiler run."""

import json

import pytest

torch = pytest.importorskip("torch", reason="the exporter needs torch")
pytest.importorskip("executorch", reason="the exporter needs executorch")

from berth.export import (  # noqa: E402
    BerthPartitioner,
    Options,
    UnsupportedOperatorError,
    served,
)
from berth.export.fingerprint import fingerprint  # noqa: E402
from berth.export.isa import march  # noqa: E402
from berth.export.partitioner import operator_name  # noqa: E402


def test_rows_are_read_with_any_spacing():
    text = """
    // BERTH_SERVED(commented, out)
    /* BERTH_SERVED(too,
       this) */
    BERTH_SERVED(clone, transfer)  BERTH_SERVED( cpu_mm_out ,\n gemm )
    #define BERTH_SERVED(name, theme) {#name},
    """
    names = served.parse_served(text)
    assert {"aoti_torch_clone", "aoti_torch_cpu_mm_out"} <= names
    assert "aoti_torch_commented" not in names and "aoti_torch_too" not in names


def test_the_shims_own_list_is_found():
    names = served.served_functions()
    assert {"aoti_torch_empty_strided", "aoti_torch_cpu_addmm_out"} <= names


def test_a_missing_list_says_where_it_was_expected(monkeypatch, tmp_path):
    monkeypatch.setattr(served, "_LIST", tmp_path / "served.inc")
    served.served_functions.cache_clear()
    with pytest.raises(FileNotFoundError, match="expected it at .*served.inc"):
        served.served_functions()


@pytest.fixture
def serving(monkeypatch):
    names = frozenset({"aoti_torch_clone", "aoti_torch_dtype_float32"})
    monkeypatch.setattr(served, "served_functions", lambda: names)


@pytest.mark.parametrize(
    ("code", "missing"),
    [
        ("aoti_torch_clone(a, &b);", set()),
        ("CHECK(aoti_torch_cpu_topk(a));", {"aoti_torch_cpu_topk"}),
        ("CACHE_TORCH_DTYPE(float32);", set()),
        ("CACHE_TORCH_DTYPE(bits8);", {"aoti_torch_dtype_bits8"}),
        ("CACHE_TORCH_DEVICE(xpu);", {"aoti_torch_device_type_xpu"}),
        # Without an operator's name, at least the hatch is named.
        ("aoti_torch_call_dispatcher(x);", {"aoti_torch_call_dispatcher"}),
    ],
)
def test_the_wrapper_is_searched_for_unserved_functions(serving, code, missing):
    assert served.unserved(code, None) == missing


def test_proxied_operators_are_named_instead_of_the_hatch(serving):
    nodes = {"nodes": [{"node": {"target": "aten::median.dim"}}]}
    code = "aoti_torch_proxy_executor_call_function(p, 0);"
    assert served.unserved(code, json.dumps(nodes)) == {"aten::median.dim"}


def test_the_error_counts_and_sorts_what_is_missing():
    error = UnsupportedOperatorError({"b", "a"}, "method 'forward'")
    assert error.operators == ["a", "b"]
    assert str(error).startswith("method 'forward' needs 2 operators")
    assert "needs 1 operator that" in str(UnsupportedOperatorError(["a"]))


@pytest.mark.parametrize(
    "given",
    ["abs", "aten.abs", "aten::abs", torch.ops.aten.abs],
)
def test_an_operator_is_named_in_several_ways(given):
    assert operator_name(given) == "aten::abs"


def test_one_overload_is_named():
    assert operator_name("aten.add.Tensor") == "aten::add.Tensor"
    assert operator_name(torch.ops.aten.abs.default) == "aten::abs.default"
    with pytest.raises(TypeError, match="found 7"):
        operator_name(7)


def test_options_travel_as_compile_specs():
    options = Options("AVX2", keep_debug=True, inductor={"cpp.threads": 1})
    assert Options.from_specs(options.to_specs()) == options
    assert Options.from_specs([]).instruction_set == Options().instruction_set


def test_a_partitioner_always_records_the_instruction_set():
    specs = BerthPartitioner().delegation_spec.compile_specs
    assert [spec.key for spec in specs] == ["instruction_set"]


def test_portable_levels_belong_to_the_names():
    assert march("AVX512") in ("x86-64-v4", None)
    assert march("AVX2") in ("x86-64-v3", None)


class Scaled(torch.nn.Module):
    def __init__(self, weight, by):
        super().__init__()
        self.weight, self.by = torch.nn.Parameter(torch.full((4,), weight)), by

    def forward(self, x):
        return x * self.weight * self.by


def print_of(weight=1.0, by=2, shape=(3, 4), extra="", **options):
    model = Scaled(weight, by)
    program = torch.export.export(model, (torch.zeros(shape),), **options)
    return fingerprint(program, extra)


def test_a_fingerprint_tells_different_work_apart():
    batch = ({0: torch.export.Dim("batch", max=8)},)
    variants = [
        print_of(),
        print_of(weight=1.5),
        print_of(by=3),
        print_of(by=2.0),
        print_of(shape=(5, 4)),
        print_of(extra="other options"),
        print_of(dynamic_shapes=batch),
        print_of(dynamic_shapes=({0: torch.export.Dim("batch", max=9)},)),
    ]
    assert None not in variants
    assert len(set(variants)) == len(variants)
    assert print_of() == variants[0]
