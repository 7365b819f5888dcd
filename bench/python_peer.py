"""A package called from Python: python_peer.py berth|torch model.pt2 rows columns

Says when its first result is there, times further calls, and prints one line of
JSON, as bench/peer.h does for C++. bench/run.py starts it.
"""

import json
import pathlib
import statistics
import sys
import time

WARM, BATCHES, CALLS_A_BATCH = 200, 50, 200


def resident_bytes() -> int:
    """Of this process."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise LookupError("VmRSS")


def berth_call(path: str, sizes: tuple[int, int]):
    import numpy as np

    import berth

    model = berth.load(path)
    x = np.full(sizes, 0.5, np.float32)
    return lambda: model(x)


def torch_call(path: str, sizes: tuple[int, int]):
    import torch

    model = torch._inductor.aoti_load_package(path)
    x = torch.full(sizes, 0.5)

    def call():
        with torch.inference_mode():
            return model(x)

    return call


def main() -> None:
    peer, path, rows, columns = sys.argv[1:]
    call = {"berth": berth_call, "torch": torch_call}[peer](path, (int(rows), int(columns)))
    print(f"first {float(call()[0][0]):.9g}", flush=True)
    for _ in range(WARM):
        call()
    batches = []
    for _ in range(BATCHES):
        start = time.perf_counter()
        for _ in range(CALLS_A_BATCH):
            call()
        batches.append((time.perf_counter() - start) / CALLS_A_BATCH * 1e6)
    figures = {
        "call_us": statistics.median(batches),
        "resident_bytes": resident_bytes(),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
