"""The backend that ExecuTorch's lowering calls, once per partition."""

from __future__ import annotations

import contextlib
import contextvars
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, final

from executorch.backends.aoti.aoti_backend import COMPILE_SPEC_KEYS, AotiBackend
from executorch.exir.backend.backend_details import (
    BackendDetails,
    ExportedProgram,
    PreprocessResult,
)
from executorch.exir.backend.compile_spec_schema import CompileSpec
from torch._inductor.codecache import AotCodeCompiler

from berth.export import isa
from berth.export.fingerprint import fingerprint
from berth.export.options import Options
from berth.export.reproducible import mapped_paths, strip_library
from berth.export.served import UnsupportedOperatorError, served_functions, unserved


@dataclass
class _Job:
    """One compilation: what the hooks of AotiBackend are not told."""

    options: Options
    build_dir: str
    missing: set[str] = field(default_factory=set)


@dataclass
class _Session:
    """One export: partitions compiled so far, by fingerprint."""

    progress: Callable[[str], None]
    compiled: dict[str, PreprocessResult] = field(default_factory=dict)
    count: int = 0


# AotiBackend's hooks are class methods, so what belongs to one call is kept here.
_job: contextvars.ContextVar[_Job] = contextvars.ContextVar("berth_job")
_session: contextvars.ContextVar[_Session | None] = contextvars.ContextVar(
    "berth_session", default=None
)
# The hooks replace functions of torch for the time of a compilation: one at a
# time. Processes do not disturb each other.
_one_at_a_time = threading.Lock()


@contextlib.contextmanager
def compile_session(progress: Callable[[str], None]) -> Iterator[None]:
    """While open, equal partitions are compiled once and progress is told."""
    token = _session.set(_Session(progress))
    try:
        yield
    finally:
        _session.reset(token)


@final
class BerthBackend(AotiBackend, BackendDetails):
    """Compiles a partition for the CPU into a library and a blob of weights.

    Its name is the delegate's id in the program. The processed bytes are two
    lines, the keys of library and weights in the named data.
    """

    @classmethod
    def preprocess(
        cls, edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        options = Options.from_specs(compile_specs)
        session = _session.get() or _Session(lambda line: None)
        session.count += 1
        key = fingerprint(edge_program, repr(options))
        if key is not None and key in session.compiled:
            session.progress(f"partition {session.count}: equal to an earlier one")
            return session.compiled[key]
        started = time.monotonic()
        what = f"partition {session.count}"
        session.progress(f"{what}: compiling for {options.instruction_set}")
        result = cls._compile(edge_program, compile_specs, options)
        seconds = time.monotonic() - started
        session.progress(f"{what}: compiled in {seconds:.0f} s")
        if key is not None:
            session.compiled[key] = result
        return result

    @classmethod
    def _compile(
        cls,
        edge_program: ExportedProgram,
        compile_specs: list[CompileSpec],
        options: Options,
    ) -> PreprocessResult:
        folder = tempfile.TemporaryDirectory(prefix="berth-export-")
        with _one_at_a_time, folder as build_dir:
            job = _Job(options, build_dir)
            token = _job.set(job)
            try:
                return super().preprocess(edge_program, compile_specs)
            except Exception as error:
                # Torch wraps what is raised inside its compiler.
                if not job.missing:
                    raise
                raise UnsupportedOperatorError(
                    job.missing, _where(compile_specs)
                ) from error
            finally:
                _job.reset(token)

    @classmethod
    def get_device_name(cls) -> str:
        return "cpu"

    @classmethod
    def get_supported_fallback_kernels(cls) -> dict[str, Any]:
        return dict.fromkeys(served_functions())

    @classmethod
    def get_decomposition_table(cls) -> dict[Any, Any]:
        # Torch's compiler decomposes what it can generate; the rest is meant to
        # reach the shim whole.
        return {}

    @classmethod
    def get_custom_passes(cls, compile_specs: list[CompileSpec]) -> list[Any]:
        return []

    @classmethod
    def get_aoti_compile_options(
        cls, compile_specs: list[CompileSpec]
    ) -> dict[str, Any]:
        job = _job.get()
        options: dict[str, Any] = {
            "aot_inductor.package": True,
            "aot_inductor.package_constants_in_so": False,
            "aot_inductor.package_constants_on_disk_format": "binary_blob",
            "aot_inductor.link_libtorch": False,
            "aot_inductor.output_path": job.build_dir,
            # Freezing turns linears and convolutions into oneDNN's own layouts.
            "freezing": False,
            "max_autotune": job.options.max_autotune,
        }
        if job.options.max_autotune:
            options["max_autotune_gemm_backends"] = "CPP"
        if march := isa.march(job.options.instruction_set):
            options["cpp.march"] = march
        options.update(job.options.inductor)
        return options

    @classmethod
    def save_data_externally(cls) -> bool:
        return _job.get().options.external_weights

    @classmethod
    @contextlib.contextmanager
    def get_extra_aoti_compile_context_manager(
        cls, compile_specs: list[CompileSpec] | None = None
    ) -> Iterator[None]:
        job = _job.get()
        with isa.compiling_for(job.options.instruction_set):
            with mapped_paths(job.build_dir):
                yield

    @classmethod
    @contextlib.contextmanager
    def collect_unsupported_fallback_kernels(
        cls, missing_fallback_kernels: set[str]
    ) -> Iterator[None]:
        """Refuses a model before the C++ compiler runs, naming all it lacks.

        The generated source is searched, not the calls that write it: torch
        writes some fallbacks (scatter) past the function that the base watches,
        and names others by operator, not by the shim's name.
        """
        job = _job.get()
        original = AotCodeCompiler.compile.__func__

        def compile_checked(
            compiler: type,
            graph: Any,
            wrapper_code: str,
            kernel_code: str,
            extern_nodes: str | None,
            **rest: Any,
        ) -> Any:
            job.missing |= unserved(wrapper_code, extern_nodes)
            if job.missing:
                raise UnsupportedOperatorError(job.missing)
            return original(
                compiler, graph, wrapper_code, kernel_code, extern_nodes, **rest
            )

        AotCodeCompiler.compile = classmethod(compile_checked)
        try:
            yield
        finally:
            AotCodeCompiler.compile = classmethod(original)

    @classmethod
    def codesign_so(cls, so_path: str, compile_specs: list[CompileSpec]) -> None:
        if not _job.get().options.keep_debug:
            strip_library(so_path)


def _where(compile_specs: list[CompileSpec]) -> str:
    for spec in compile_specs:
        if spec.key == COMPILE_SPEC_KEYS.METHOD_NAME.value:
            return f"method {spec.value.decode()!r}"
    return "the model"
