"""Makes ExecuTorch programs whose delegates Berth runs.

    from berth.export import export_pte
    report = export_pte(model, (example_input,), "model.pte")

Each delegate is one AOTInductor library for the CPU and one blob of weights,
found in the program's named data by the hash of their content, so that equal
partitions are stored once.
"""

from berth.export.backend import BerthBackend
from berth.export.options import Options
from berth.export.partitioner import BerthPartitioner
from berth.export.program import Delegate, ExportReport, export_pte
from berth.export.served import UnsupportedOperatorError

__all__ = [
    "BerthBackend",
    "BerthPartitioner",
    "Delegate",
    "ExportReport",
    "Options",
    "UnsupportedOperatorError",
    "export_pte",
]
