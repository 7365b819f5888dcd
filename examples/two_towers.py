"""Exports a model whose one part is used twice: two delegates, one library.

    python examples/two_towers.py --out DIR

The operator between the two uses stays outside, so that the model has two
partitions. They are equal, get the same key, and are stored once. Beside the
program lie an example input and eager PyTorch's answer, as .npy files.
"""

import argparse
from pathlib import Path

import numpy
import torch

from berth.export import export_pte


class TwoTowers(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tower = torch.nn.Sequential(
            torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 32)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.tower(torch.abs(self.tower(x)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("."), metavar="DIR")
    out = parser.parse_args().out

    torch.manual_seed(0)
    model, x = TwoTowers().eval(), torch.randn(4, 32)
    report = export_pte(
        model, (x,), out / "two_towers.pte", keep_out=["abs"], progress=print
    )
    with torch.no_grad():
        numpy.save(out / "in0.npy", x.numpy())
        numpy.save(out / "out0.npy", model(x).numpy())

    for i, delegate in enumerate(report.delegates):
        so, weights = delegate.so_key[:12], delegate.weights_key[:12]
        print(f"delegate {i} of {delegate.method}:")
        print(f"  library {so}...  {delegate.so_bytes:>8,} bytes")
        print(f"  weights {weights}...  {delegate.weights_bytes:>8,} bytes")
    for key in report.shared_keys:
        print(f"shared by both: {key[:12]}...{key[64:]}")


if __name__ == "__main__":
    main()
