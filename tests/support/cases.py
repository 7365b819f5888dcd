"""What tests take from the fixtures, for Pythons that have no torch."""

from __future__ import annotations

import itertools
from pathlib import Path

# Packages whose operators are served, with eager's inputs and outputs.
SERVED = (
    "mlp_lib", "control_pkg", "dtypes_pkg", "gnn", "intdiv", "math_fns", "lstm_decomposed",
    "transformer_encoder_math", "kv_cache_templates", "conv1d_audio", "lstm", "transformer_encoder",
    "indexing",
)  # fmt: skip


def arrays(folder: Path, name: str) -> list[Path]:
    """The fixture's files <name>0.npy, <name>1.npy, ..."""
    files = (folder / f"{name}{i}.npy" for i in itertools.count())
    return list(itertools.takewhile(Path.exists, files))
