"""What a .pt2 package holds, read without torch, mapping and running nothing.

Symbols come from binutils' readelf, which is there wherever g++ is.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import Any

# Long runs of letters and digits: content hashes, of which four letters tell enough.
_HASH = re.compile(r"\b(\w{4})\w{28,}\b")
# Small entries whose text says how the package is to be read.
_TELLING = ("archive_format", "archive_version", "byteorder", ".data/version")
_SYMBOL = re.compile(r"^ *\d+: \w+ +\w+ +\w+ +(\w+) +\w+ +(\w+) (\S+)", re.MULTILINE)
_NEEDED = re.compile(r"\(NEEDED\).*\[(.*)\]")
_CHECK = re.compile(r"check_input_0\(.*?^}", re.DOTALL | re.MULTILINE)
_MESSAGE = re.compile(r"\bss\s*<<(.*?);", re.DOTALL)
_RANK = re.compile(r'^(.*)\bassert_size_stride\(.*"input"\)', re.MULTILINE)


def short(name: str) -> str:
    return _HASH.sub(r"\1~", name)


def describe(package: Path) -> dict[str, Any]:
    """Everything that is compared between versions of torch."""
    with zipfile.ZipFile(package) as archive:
        return {**_archive(archive), **_contents(archive)}


def _archive(archive: zipfile.ZipFile) -> dict[str, Any]:
    entries = archive.infolist()
    return {
        "entries": {short(entry.filename): entry.file_size for entry in entries},
        "all_stored": all(entry.compress_type == 0 for entry in entries),
        "all_at_multiples_of_64": all(_start(archive, e) % 64 == 0 for e in entries),
    }


def _start(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> int:
    # Only the local header, 30 bytes and two strings, says where the data begins.
    assert archive.fp is not None
    archive.fp.seek(entry.header_offset + 26)
    lengths = archive.fp.read(4)
    name, extra = (int.from_bytes(lengths[i : i + 2], "little") for i in (0, 2))
    return entry.header_offset + 30 + name + extra


def _contents(archive: zipfile.ZipFile) -> dict[str, Any]:
    found: dict[str, dict[str, Any]] = {
        kind: {}
        for kind in ("texts", "metadata", "weights", "libraries", "wrappers")
    }
    for name in archive.namelist():
        data, key = archive.read(name), short(name)
        if name.endswith(_TELLING):
            found["texts"][key] = data.decode()
        elif name.endswith(".json"):
            found["metadata"][key] = json.loads(data)
        elif "/data/weights/" in name:
            found["weights"][key] = _weight(data)
        elif name.endswith(".so"):
            found["libraries"][key] = _library(data)
        elif name.endswith(".wrapper.cpp"):
            found["wrappers"][key] = _wrapper(data.decode())
    return found


def _weight(data: bytes) -> dict[str, int] | str:
    """Pickled weights are archives inside the archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {entry.filename: entry.file_size for entry in archive.infolist()}
    except zipfile.BadZipFile:
        return f"{len(data)} bytes, no archive"


def _library(data: bytes) -> dict[str, Any]:
    with tempfile.NamedTemporaryFile(suffix=".so") as file:
        file.write(data)
        file.flush()
        command = ["readelf", "--wide", "--dynamic", "--dyn-syms", file.name]
        read = subprocess.run(command, capture_output=True, text=True, check=True)
    symbols = [
        (binding, section, name.partition("@")[0])
        for binding, section, name in _SYMBOL.findall(read.stdout)
    ]
    imports = {name for _, section, name in symbols if section == "UND"}
    exports = {name for _, section, name in symbols if section != "UND"}
    torch = {name for name in imports if name.startswith("aoti_torch_")}
    return {
        "needed": _NEEDED.findall(read.stdout),
        "imports_of_torch": sorted(torch),
        "other_c_imports": sorted(
            name for name in imports - torch if not name.startswith("_Z")
        ),
        "exports": sorted(name for name in exports if name.startswith("AOTInductor")),
        "prints_on_error": "_ZSt4cerr" in imports,
        "unique_symbols": sum(binding == "UNIQUE" for binding, _, _ in symbols),
    }


def _wrapper(source: str) -> dict[str, Any]:
    checks = _CHECK.search(source)
    return {
        "checks_when_asked": "AOTI_RUNTIME_CHECK_INPUTS" in source,
        "checks_dtype": "unmatched dtype" in source,
        "messages_of_input_0": [
            _message(text) for text in _MESSAGE.findall(checks[0] if checks else "")
        ],
        "rank_check": _rank(source),
    }


def _message(streamed: str) -> str:
    """A message as it is printed, with {} for what is known at run time only."""
    parts = (part.strip() for part in streamed.split("<<"))
    return "".join(part[1:-1] if part[0] == '"' else "{}" for part in parts if part)


def _rank(source: str) -> str:
    """Whether the number of an input's dimensions is compared, and when."""
    before = _RANK.findall(source)
    if not before:
        return "none"
    asked = all("_check_aoti_runtime_check_inputs_env()" in text for text in before)
    return "when asked" if asked else "always"
