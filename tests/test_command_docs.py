"""docs/command.md shows what the berth command says.

    .venv/bin/python tests/test_command_docs.py

Run as a program it writes into the document what the command says now; what varies
has to be put between < and > again.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest
from command import COMMAND, ROOT

DOCUMENT = ROOT / "docs/command.md"
BLOCK = re.compile(r"(?<=^```\n)\$ .*?(?=^```$)", re.MULTILINE | re.DOTALL)
# Under which names the document has compiled models.
FILES = {
    "model.pt2": "mlp_lib/model.pt2",
    "in0.npy": "mlp_lib/in0.npy",
    "out0.npy": "mlp_lib/out0.npy",
    "program.pte": "mlp_external/model.pte",
    "program.ptd": "mlp_external/model.ptd",
    "unserved.pt2": "unserved/model.pt2",
}


def prepare(models: pathlib.Path, folder: pathlib.Path) -> None:
    for name, source in FILES.items():
        shutil.copy(models / source, folder / name)


def spoken(block: str, folder: pathlib.Path) -> str:
    """The block's commands, each with all that it says."""
    script = f"berth() {{ '{COMMAND}' \"$@\"; }}\nstatus=0\n"
    for command in re.findall(r"^\$ (.*)$", block, re.MULTILINE):
        script += f"printf '%s\\n' '$ {command}'; (exit $status)\n{command}\nstatus=$?\n"
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, text=True, timeout=120,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=dict(os.environ, TMPDIR="/tmp"),
    )  # fmt: skip
    return done.stdout


def as_shown(found: str, shown: str) -> bool:
    parts = re.split(r"<[^<>\n]*>", shown)
    return re.fullmatch("[^\n]*".join(map(re.escape, parts)), found) is not None


@pytest.mark.parametrize("block", BLOCK.findall(DOCUMENT.read_text()))
def test_the_document_shows_what_the_command_says(models, tmp_path, block):
    prepare(models, tmp_path)
    found = spoken(block, tmp_path)
    assert as_shown(found, block), f"the command says\n{found}"


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(ROOT / "build/models", folder)

        def renewed(match: re.Match) -> str:
            found = spoken(match[0], folder)
            return match[0] if as_shown(found, match[0]) else found

        DOCUMENT.write_text(BLOCK.sub(renewed, DOCUMENT.read_text()))


if __name__ == "__main__":
    main()
