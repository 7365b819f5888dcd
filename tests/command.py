"""How tests call the berth command."""

import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = pathlib.Path(os.environ.get("BERTH_COMMAND", ROOT / "build/release/bin/berth")).resolve()


def berth(*arguments, **environment) -> subprocess.CompletedProcess:
    return subprocess.run(
        [COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=dict(os.environ, **environment),
        timeout=120,
    )


def run_json(*arguments) -> dict:
    done = berth("run", *arguments, "--json")
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)
