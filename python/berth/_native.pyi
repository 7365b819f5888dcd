"""Berth's C++ interface; use the package berth."""

from collections.abc import Sequence
import os
from typing import Any

import numpy.typing


class Tensor:
    """
    Elements that NumPy has no type for, such as bfloat16. Other libraries
    take it by DLPack, and so do models.
    """

    @staticmethod
    def from_bits(array: object, dtype: str) -> Tensor:
        """
        A tensor of the elements whose bits are the integers of
        `array`; a copy. `dtype` is torch's name, "bfloat16".
        """

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def strides(self) -> tuple[int, ...]:
        """In elements."""

    @property
    def dtype(self) -> str:
        """torch's name, "bfloat16"."""

    @property
    def nbytes(self) -> int: ...

    def bits(self) -> numpy.typing.NDArray[Any]:
        """
        The elements' bits, an array of unsigned integers on the same
        memory.
        """

    def numpy(self) -> numpy.typing.NDArray[Any]:
        """
        An array on the same memory. Where NumPy has no such elements it
        is of ml_dtypes' type, if the program imported that package, and
        an UnsupportedError if not.
        """

    def __dlpack__(self, *, stream: object | None = None, max_version: object | None = None, dl_device: object | None = None, copy: object | None = None) -> object: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...

    def __repr__(self) -> str: ...

class TensorSpec:
    """An input or output, as far as the library tells."""

    @property
    def name(self) -> str:
        """The library's own name for it."""

    @property
    def path(self) -> str:
        """
        Where it is in the arguments or the result, "[0]['w']"; empty
        when the library does not say.
        """

    @property
    def dtype(self) -> str | None:
        """
        torch's name, "float32"; None when it is not known, and
        so are sizes and strides.
        """

    @property
    def sizes(self) -> tuple[tuple[int, int], ...] | None:
        """The least and the most that each dimension may have."""

    @property
    def strides(self) -> tuple[int | None, ...] | None:
        """In elements; None for one that depends on sizes."""

    def __repr__(self) -> str: ...

class PackagedFile:
    """A file of an archive."""

    @property
    def name(self) -> str: ...

    @property
    def size_bytes(self) -> int: ...

    def __repr__(self) -> str: ...

class PackagedModel:
    """A model of a package."""

    @property
    def name(self) -> str: ...

    @property
    def library(self) -> PackagedFile: ...

    @property
    def constants(self) -> str:
        """
        Where they are: "in the library", "in one blob" or "in separate
        entries".
        """

    @property
    def constant_files(self) -> list[PackagedFile]: ...

    @property
    def files(self) -> list[PackagedFile]: ...

    @property
    def metadata(self) -> dict[str, str]:
        """Everything that torch wrote down."""

    @property
    def device(self) -> str: ...

    @property
    def machine(self) -> str: ...

    @property
    def platform(self) -> str: ...

    @property
    def instruction_set(self) -> str: ...

class Package:
    """
    A .pt2 archive: compiled models, and what they say
    about themselves.
    """

    @staticmethod
    def open(source: str | os.PathLike[str] | bytes | bytearray | memoryview) -> Package:
        """Of a path, or of the archive's bytes."""

    @property
    def models(self) -> list[PackagedModel]:
        """Sorted by name; never empty."""

    @property
    def files(self) -> list[PackagedFile]:
        """Every file, in their order."""

    @property
    def label(self) -> str:
        """The path, or "a package in memory"."""

    def find(self, name: str = '') -> PackagedModel:
        """The model of that name; without one "model", or the only one."""

    def read(self, name: str) -> bytes:
        """The bytes of a file, whose checksum was verified."""

class Options:
    """How a model is loaded."""

    def __init__(self, *, placement: str, temp_directory: str, keep_files: bool, replicas: int, when_busy: str, model_name: str, label: str, instruction_set: str) -> None: ...

class Model:
    """A compiled model."""

    @staticmethod
    def load_path(path: str | os.PathLike[str], options: Options) -> Model: ...

    @staticmethod
    def load_package(package: Package, options: Options) -> Model: ...

    @staticmethod
    def load_library(library: bytes, weights: bytes, options: Options) -> Model: ...

    @property
    def inputs(self) -> list[TensorSpec]: ...

    @property
    def outputs(self) -> list[TensorSpec]: ...

    @property
    def call_spec(self) -> tuple[str, str]: ...

    @property
    def library_paths(self) -> list[str]: ...

    def run(self, inputs: Sequence[Any]) -> list[Any]: ...

    def close(self) -> None: ...

def is_tensor(value: object | None) -> bool:
    """Whether a model can take it as an input."""
