"""Operators that find, pick and fill places, beside torch's."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from shim import ShimError, call, optional, same
from test_lines import REALS, agree, each_layout, made


class TestSearch:
    @pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bfloat16])
    @pytest.mark.parametrize("right", [False, True])
    @pytest.mark.parametrize("small", [False, True])
    def test_bounds_of_one_dimension(self, dtype, right, small):
        bounds = torch.tensor([-2, -1, -1, 0, 3]).to(dtype)
        for values in (made((3, 5), dtype, "transposed"), made((), dtype), made((0,), dtype)):
            found = call("cpu_searchsorted_Tensor", bounds, values, small, right, None, None)
            agree(found, torch.searchsorted(bounds, values, out_int32=small, right=right))
            found = call("cpu_bucketize_Tensor", values, bounds, small, right)
            agree(found, torch.bucketize(values, bounds, out_int32=small, right=right))

    def test_bounds_of_more_with_a_sorter(self):
        bounds, values = torch.randn(2, 3, 9), torch.randn(2, 3, 4)
        order = torch.argsort(bounds, -1)
        found = call("cpu_searchsorted_Tensor", bounds, values, False, False, None, optional(order))
        agree(found, torch.searchsorted(bounds, values, sorter=order))
        with pytest.raises(ShimError):
            call("cpu_searchsorted_Tensor", bounds, values, False, False, None, optional(order + 1))

    def test_a_number(self):
        bounds = torch.tensor([1, 2, 2, 4])
        for right in (False, True):
            found = call("cpu_searchsorted_Scalar", bounds, 2.0, False, right, None, None)
            agree(found, torch.searchsorted(bounds, 2, right=right))

    def test_nan_comes_last(self):
        bounds, values = torch.tensor([1.0, 2.0]), torch.tensor([float("nan"), 1.5])
        agree(call("cpu_searchsorted_Tensor", bounds, values, False, False, None, None), torch.searchsorted(bounds, values))

    @pytest.mark.parametrize("sizes", [(2, 4), (3, 3, 4), ()])
    def test_other_sizes_are_refused(self, sizes):
        with pytest.raises(ShimError):
            call("cpu_searchsorted_Tensor", torch.zeros(3, 4), torch.zeros(sizes), False, False, None, None)


class TestHistogram:
    @each_layout
    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    @pytest.mark.parametrize(("bins", "low", "high"), [(4, 0, 0), (7, -1, 1), (1, -2, 2), (100, 0, 3)])
    def test_counts(self, dtype, bins, low, high, layout):
        x = made((13, 17), dtype, layout)
        agree(call("cpu_histc", x, bins, float(low), float(high)), torch.histc(x, bins, low, high))

    def test_edges(self):
        for x in (torch.full((5,), 2.0), torch.zeros(0), torch.tensor([1.0, float("nan")])):
            low = 0.0 if not x.isnan().any() else -3.0
            agree(call("cpu_histc", x, 3, low, -low), torch.histc(x, 3, low, -low))
        for wrong in ((0, 0.0, 1.0), (3, 2.0, 1.0), (3, 0.0, float("inf"))):
            with pytest.raises(ShimError):
                call("cpu_histc", torch.zeros(3), *wrong)


class TestSelection:
    @each_layout
    @pytest.mark.parametrize("dtype", REALS)
    @pytest.mark.parametrize("sizes", [(), (0,), (7,), (3, 5), (2, 0), (2, 3, 4)])
    def test_nonzero(self, dtype, sizes, layout):
        x = made(sizes, dtype, layout)
        agree(call("cpu_nonzero", x), torch.nonzero(x))
        agree(call("cpu_nonzero_static", x, 4, -1), torch.nonzero_static(x, size=4, fill_value=-1))

    @each_layout
    @pytest.mark.parametrize("dtype", REALS)
    @pytest.mark.parametrize(("sizes", "mask_sizes"), [((), ()), ((5,), (5,)), ((3, 5), (5,)), ((5,), (3, 1)), ((2, 0), (2, 0)), ((2, 3, 4), (3, 1))])
    def test_masked_select(self, dtype, sizes, mask_sizes, layout):
        x, mask = made(sizes, dtype, layout), made(mask_sizes, torch.bool, layout)
        agree(call("cpu_masked_select", x, mask), torch.masked_select(x, mask))

    def test_wrong_masks_are_refused(self):
        for mask in (torch.zeros(4, dtype=torch.bool), torch.zeros(3)):
            with pytest.raises(ShimError):
                call("cpu_masked_select", torch.zeros(2, 3), mask)


REDUCTIONS = ["sum", "prod", "mean", "amax", "amin"]


class TestScatter:
    @each_layout
    @pytest.mark.parametrize("dtype", REALS[:-1])
    @pytest.mark.parametrize("reduce", REDUCTIONS)
    @pytest.mark.parametrize("include", [False, True])
    def test_reductions(self, dtype, reduce, include, layout):
        for sizes, dim in (((6, 5), 0), ((6, 5), 1), ((7,), 0), ((2, 3, 4), -2)):
            x, source = made(sizes, dtype, layout), made(sizes, dtype)
            index = torch.randint(0, x.shape[dim], [max(n - 1, 1) for n in sizes])
            right = torch.scatter_reduce(x, dim, index, source, reduce, include_self=include)
            out = torch.empty_like(x)
            call("cpu_scatter_reduce_two_out", out, x, dim, index, source, reduce, include, outputs=0)
            agree(out.contiguous(), right.contiguous())
            call("cpu_scatter_reduce_two_out", x, x, dim, index, source, reduce, include, outputs=0)
            agree(x.contiguous(), right.contiguous())

    @each_layout
    @pytest.mark.parametrize("dtype", REALS)
    def test_writes(self, dtype, layout):
        x, source = made((4, 5), dtype, layout), made((4, 5), dtype, layout)
        index = torch.stack([torch.randperm(5) for _ in range(3)])
        out = torch.empty_like(x)
        call("cpu_scatter_src_out", out, x, 1, index, source, outputs=0)
        agree(out.contiguous(), torch.scatter(x, 1, index, source).contiguous())
        call("cpu_scatter_value_out", out, x, 1, index, 1.0, outputs=0)
        agree(out.contiguous(), torch.scatter(x, 1, index, 1).contiguous())

    def test_nothing_to_write_and_scalars(self):
        x = torch.tensor(2.0)
        call("cpu_scatter_src_out", x, x, 0, torch.tensor(0), torch.tensor(5.0), outputs=0)
        assert x == 5
        y = torch.ones(3)
        call("cpu_scatter_src_out", y, y, 0, torch.zeros(0, dtype=torch.int64), torch.ones(3), outputs=0)
        assert torch.equal(y, torch.ones(3))

    @pytest.mark.parametrize(
        ("index", "source", "reduce"),
        [
            (torch.tensor([3]), torch.ones(3), "sum"), (torch.tensor([-1]), torch.ones(3), "sum"),
            (torch.tensor([0.0]), torch.ones(3), "sum"), (torch.tensor([0]), torch.ones(3, dtype=torch.int64), "sum"),
            (torch.zeros(4, dtype=torch.int64), torch.ones(3), "sum"), (torch.zeros(1, 1, dtype=torch.int64), torch.ones(3), "sum"),
            (torch.tensor([0]), torch.ones(3), "median"),
        ],
    )  # fmt: skip
    def test_wrong_arguments_are_refused(self, index, source, reduce):
        x = torch.zeros(3)
        with pytest.raises(ShimError):
            call("cpu_scatter_reduce_two_out", x, x, 0, index, source, reduce, True, outputs=0)


class TestViews:
    @each_layout
    def test_look_at_the_same_memory_in_another_way(self, layout):
        x = made((2, 3, 4), torch.float32, layout)
        agree(call("cpu_permute", x, [2, 0, -2]), x.permute(2, 0, 1))
        agree(call("cpu_narrow", x, -1, 1, 2), x.narrow(-1, 1, 2))
        agree(call("cpu_slice_Tensor", x, 1, optional(-2), None, 1), x[:, -2:])
        agree(call("cpu_slice_Tensor", x, 2, optional(0), optional(99), 3), x[..., 0:99:3])
        agree(call("cpu_slice_Tensor", x, 2, optional(3), optional(1), 1), x[..., 3:1])
        agree(call("cpu_squeeze_dim", x[:, :1], 1), x[:, :1].squeeze(1))
        agree(call("cpu_squeeze_dim", x, 1), x)

    @settings(max_examples=150, deadline=None)
    @given(st.permutations([1, 2, 3, 4]), st.permutations(range(4)), st.booleans(), st.sampled_from([(24,), (-1, 6), (4, 6), (2, 3, 4), (1, 24, 1), (3, 8), (6, 2, 2), (2, 2, 2, 3), (12, 1, 2)]))
    def test_reshape(self, sizes, order, is_sliced, wanted):
        x = torch.randn([sizes[d] for d in order])
        if is_sliced:
            x = torch.randn([n * 2 for n in x.shape])[tuple(slice(None, None, 2) for _ in x.shape)]
        x = x.permute([order.index(d) for d in range(4)])
        same(call("cpu_reshape", x, list(wanted)), x.reshape(wanted))

    def test_wrong_arguments_are_refused(self):
        x = torch.zeros(2, 3)
        for name, *args in (
            ("permute", [0, 0]), ("permute", [0]), ("permute", [0, 2]), ("narrow", 1, 2, 2), ("narrow", 1, 0, -1),
            ("slice_Tensor", 1, None, None, 0), ("reshape", [4, -1]), ("reshape", [5]), ("reshape", [-1, -1]), ("squeeze_dim", 2),
        ):  # fmt: skip
            with pytest.raises(ShimError):
                call(f"cpu_{name}", x, *args)


class TestEmbeddingBag:
    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
    @pytest.mark.parametrize("kind", [torch.int64, torch.int32])
    @pytest.mark.parametrize("mode", [0, 1, 2])
    @pytest.mark.parametrize("padding", [-1, 3])
    @pytest.mark.parametrize("include_last", [False, True])
    def test_bags(self, dtype, kind, mode, padding, include_last):
        table = made((4, 10), dtype).t()
        indices = torch.tensor([1, 2, 3, 3, 9, 3], dtype=kind)
        offsets = torch.tensor([0, 2, 2, 5] + [6] * include_last, dtype=kind)
        weights = [None] if mode else [None, made((6,), dtype)]
        for weight in weights:
            args = (False, mode, False, weight, include_last, padding)
            right = torch._embedding_bag(table, indices, offsets, *args)
            found = call(
                "cpu__embedding_bag", table, indices, offsets, False, mode, False,
                optional(weight), include_last, padding, outputs=4,
            )  # fmt: skip
            agree(found[0], right[0])
            assert found[2].tolist() == right[2].tolist() or mode == 0

    def test_wrong_arguments_are_refused(self):
        table, good, offsets = torch.zeros(4, 2), torch.tensor([0, 1]), torch.tensor([0, 1])
        for indices, starts, mode in (
            (torch.tensor([0, 4]), offsets, 0), (torch.tensor([-1, 0]), offsets, 0), (good, torch.tensor([0, 3]), 0),
            (good, torch.tensor([1, 0]), 0), (good, torch.tensor([1, 2]), 0), (good, offsets, 3), (good.float(), offsets, 0),
        ):  # fmt: skip
            with pytest.raises(ShimError):
                call("cpu__embedding_bag", table, indices, starts, False, mode, False, None, False, -1, outputs=4)
