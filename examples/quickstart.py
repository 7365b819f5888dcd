"""Exports a model with torch, then runs the program with Berth."""

import torch
from executorch.runtime import Runtime

import berth.executorch  # noqa: F401, registers the backend
from berth.export import export_pte

model = torch.nn.Sequential(
    torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)
).eval()
x = torch.randn(2, 64)

# keep_out=["abs"] would leave that operator to ExecuTorch.
report = export_pte(model, (x,), "quickstart.pte")
print(f"{len(report.delegates)} delegate for {report.instruction_set}")

program = Runtime.get().load_program("quickstart.pte")
(y,) = program.load_method("forward").execute([x])
print("largest difference from eager:", (y - model(x)).abs().max().item())
