"""A compiled model, called as the module was that it was exported from."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

from berth import _native, _pytree, errors

# Bytes of a package or of a library, or where they are.
Source: TypeAlias = "str | os.PathLike[str] | bytes | bytearray | memoryview | _native.Package"
Flatten: TypeAlias = Callable[[tuple[Any, ...], dict[str, Any]], Sequence[Any]]
Build: TypeAlias = Callable[[list[Any]], Any]

_ELF = b"\x7fELF"


class Model:
    """A compiled model.

    Ownership: inputs are borrowed for the call, without a copy where the model
    can read them as they are. Outputs own their memory, which no later run and
    no closing touches; nothing is copied on the way out.

    Threads: call it from any. The GIL is released while the model runs. As many
    runs overlap as it has replicas; those beyond wait, or raise BusyError.
    """

    __slots__ = ("_build", "_flatten", "_native", "_run")

    def __init__(self, native: _native.Model) -> None:
        """`load` makes models."""
        self._native = native
        self._run = native.run
        self._flatten, self._build = _call_spec(native)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs with the exported module's own arguments; returns its results.

        What was no tensor when the module was exported is compiled in: such an
        argument has its place, and its value changes nothing.

        Tensors are NumPy arrays, torch's, berth.Tensor, and all that has
        `__dlpack__` or is a buffer. Results are torch tensors if an input was,
        else NumPy arrays; a berth.Tensor where NumPy has no such elements, for
        example bfloat16, unless ml_dtypes was imported, which has.
        """
        return self._build(self._run(self._flatten(args, kwargs)))

    def run(self, inputs: Sequence[Any]) -> list[Any]:
        """Runs with the flat list of inputs, and returns that of outputs.

        A None among them was no tensor when the module was exported.
        """
        return self._run(inputs)

    @property
    def inputs(self) -> list[_native.TensorSpec]:
        """In the order in which run() takes them."""
        return self._native.inputs

    @property
    def outputs(self) -> list[_native.TensorSpec]:
        """In the order in which run() gives them."""
        return self._native.outputs

    @property
    def call_spec(self) -> tuple[str, str]:
        """How arguments and results nest: torch's JSON for each, or ""."""
        return self._native.call_spec

    @property
    def library_paths(self) -> list[str]:
        """The private file of each replica."""
        return self._native.library_paths

    def close(self) -> None:
        """Unmaps the libraries and removes their files, waiting for runs.

        Otherwise this happens when the model is collected.
        """
        self._native.close()

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        inputs = ", ".join(repr(spec) for spec in self.inputs)
        return f"<berth.Model: {inputs}; {len(self.outputs)} outputs>"


def load(
    source: Source,
    *,
    model_name: str = "",
    weights: str | os.PathLike[str] | bytes | bytearray | memoryview = b"",
    placement: Literal["", "automatic", "file", "memory"] = "",
    temp_directory: str | os.PathLike[str] = "",
    keep_files: bool = False,
    replicas: int = 1,
    when_busy: Literal["wait", "fail"] = "wait",
    label: str = "",
    instruction_set: str = "",
) -> Model:
    """Loads a package (.pt2) or a library (.so): a path, its bytes, or a Package.

    `model_name` is for a package of several. `weights` are a library's that does
    not hold them: the exporter's blob, or its path. The other options are those
    of berth::ModelOptions (berth/options.h).
    """
    options = _native.Options(
        placement=placement,
        temp_directory=os.fspath(temp_directory),
        keep_files=keep_files,
        replicas=replicas,
        when_busy=when_busy,
        model_name=model_name,
        label=label,
        instruction_set=instruction_set,
    )
    return Model(_load(source, weights, options))


def _load(source: Source, weights: Any, options: _native.Options) -> _native.Model:
    if isinstance(source, _native.Package):
        return _native.Model.load_package(source, options)
    if isinstance(source, (str, os.PathLike)):
        if isinstance(weights, bytes) and not weights:
            return _native.Model.load_path(source, options)
        source = _read(source)
    image = _bytes(source)
    if image.startswith(_ELF):
        return _native.Model.load_library(image, _read(weights), options)
    return _native.Model.load_package(_native.Package.open(image), options)


def _read(source: Any) -> bytes:
    if not isinstance(source, (str, os.PathLike)):
        return _bytes(source)
    try:
        return pathlib.Path(source).read_bytes()
    except FileNotFoundError as error:
        raise errors.NotFoundError(f"NotFound: {error}") from error


def _bytes(source: Any) -> bytes:
    # bytes() alone would take a number for a length.
    return source if isinstance(source, bytes) else bytes(memoryview(source))


# --- How a call nests ----------------------------------------------------------


def _call_spec(native: _native.Model) -> tuple[Flatten, Build]:
    inputs, outputs = native.call_spec
    count = len(native.inputs)
    if not inputs or not outputs:
        return _pytree.positional_flattener(count), list
    try:
        flatten = _pytree.flattener(_pytree.parse(inputs), count, _native.is_tensor)
        return flatten, _pytree.builder(_pytree.parse(outputs))
    except _pytree.UnknownTypeError as error:
        return _refusal(str(error)), list
    except _pytree.CorruptSpecError as error:
        raise errors.CorruptError(f"Corrupt: {error}") from error


def _refusal(reason: str) -> Flatten:
    def refuse(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sequence[Any]:
        raise errors.UnsupportedError(
            f"Unsupported: {reason}; pass the tensors in it to run(), as a list"
        )

    return refuse
