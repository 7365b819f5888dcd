"""Calls the functions that delegates import, on torch's tensors.

    found = call("cpu_cumsum", x, 1, optional(None))
    same(found, torch.cumsum(x, 1))

What comes back has the sizes, the strides and the dtype of Berth's result, in
memory of its own.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
from typing import Any

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
_FOLDER = pathlib.Path(os.environ.get("BERTH_LIBRARY_DIR", ROOT / "build/release/lib"))
_LIBRARY = ctypes.CDLL(os.fspath(_FOLDER / "libberth.so"), mode=os.RTLD_NOW | os.RTLD_LOCAL)
_FAMILY = (
    "float32 float64 float16 bfloat16 uint8 int8 int16 int32 int64 bool complex64 complex128"
).split()
_CODES = {getattr(torch, name): getattr(_LIBRARY, f"aoti_berth_dtype_{name}")() for name in _FAMILY}
_DTYPES = {code: dtype for dtype, code in _CODES.items()}
_CPU = _LIBRARY.aoti_berth_device_type_cpu()

Handle = ctypes.c_void_p


class ShimError(RuntimeError):
    """A function said 1."""


def _do(name: str, *args: Any) -> None:
    if getattr(_LIBRARY, f"aoti_berth_{name}")(*args) != 0:
        raise ShimError(name)


def _extents(values: Any) -> Any:
    return (ctypes.c_int64 * len(values))(*values)


class _Owned:
    """A handle that is deleted when the call is over."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.handle = Handle()
        sizes, strides = _extents(tensor.shape), _extents(tensor.stride())
        _do(
            "create_tensor_from_blob",
            Handle(tensor.data_ptr()), ctypes.c_int64(tensor.dim()), sizes, strides,
            ctypes.c_int64(0), _CODES[tensor.dtype], _CPU, 0, ctypes.byref(self.handle),
        )  # fmt: skip

    def __del__(self) -> None:
        _do("delete_tensor_object", self.handle)


class optional:  # noqa: N801, reads as a word of the call
    """An argument that the function takes by a pointer, null for None.

    A whole number is an int64 unless `kind` says otherwise.
    """

    def __init__(self, value: Any, kind: Any = None) -> None:
        self.value, self.kind = value, kind


def _pass(value: Any, keep: list[Any]) -> list[Any]:
    """The C arguments for one of Python's."""
    if isinstance(value, optional):
        if value.value is None:
            return [None]
        (inner,) = _pass(value.value, keep)
        if value.kind is not None:
            inner = value.kind(value.value)
        keep.append(inner)
        return [ctypes.byref(inner)]
    if isinstance(value, torch.Tensor):
        keep.append(_Owned(value))
        return [keep[-1].handle]
    if isinstance(value, torch.dtype):
        return [ctypes.c_int32(_CODES[value])]
    if value is None:
        return [None]
    if isinstance(value, bool):
        return [ctypes.c_int32(value)]
    if isinstance(value, int):
        return [ctypes.c_int64(value)]
    if isinstance(value, float):
        return [ctypes.c_double(value)]
    if isinstance(value, str):
        return [ctypes.c_char_p(value.encode())]
    if isinstance(value, (list, tuple)) and all(isinstance(each, int) for each in value):
        keep.append(_extents(value))
        return [keep[-1], ctypes.c_int64(len(value))]
    return [value]  # A ctypes object.


def _take(handle: Handle) -> torch.Tensor:
    """A copy of what the handle shows, with its strides; the handle is deleted."""
    dim, data, dtype = ctypes.c_int64(), Handle(), ctypes.c_int32()
    sizes, strides = (ctypes.POINTER(ctypes.c_int64)() for _ in range(2))
    for name, out in (
        ("get_dim", dim), ("get_data_ptr", data), ("get_dtype", dtype),
        ("get_sizes", sizes), ("get_strides", strides),
    ):  # fmt: skip
        _do(name, handle, ctypes.byref(out))
    size, stride = sizes[: dim.value], strides[: dim.value]
    end = 0 if 0 in size else 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    kind = _DTYPES[dtype.value]
    flat = torch.empty(end, dtype=kind)
    ctypes.memmove(flat.data_ptr(), data.value, end * flat.element_size())
    _do("delete_tensor_object", handle)
    return torch.as_strided(flat, size, stride)


def call(name: str, *args: Any, outputs: int = 1) -> Any:
    """aoti_torch_<name>; its one result, a tuple of several, or None of none."""
    keep: list[Any] = []
    passed = [each for value in args for each in _pass(value, keep)]
    handles = [Handle() for _ in range(outputs)]
    _do(name, *passed, *map(ctypes.byref, handles))
    found = tuple(_take(handle) if handle.value else None for handle in handles)
    return found[0] if outputs == 1 else found or None


def same(found: torch.Tensor, expected: torch.Tensor, rtol: float = 1e-4, atol: float = 1e-5) -> None:
    """Holds values, sizes, dtype and, where they matter, strides."""
    torch.testing.assert_close(found, expected, rtol=rtol, atol=atol, equal_nan=True)
    if expected.numel() > 0:
        shown = [(s, n) for s, n in zip(found.stride(), found.shape, strict=True) if n > 1]
        right = [(s, n) for s, n in zip(expected.stride(), expected.shape, strict=True) if n > 1]
        assert shown == right, f"strides {found.stride()}, expected {expected.stride()}"
