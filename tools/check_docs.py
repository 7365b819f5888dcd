"""Checks of tools/lint.py that hold the documents to the code.

    .venv/bin/python tools/check_docs.py

Run as a program it copies the files that documents show into them anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

Violation = tuple[str, int, str]

_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_QUOTED = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_SHOWN = re.compile(r"(?<=^<!-- )(\S+)( -->\n+```\w*\n)(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
# Stands for many files, or for one of another tree.
_PATTERN = re.compile(r"[\s<>*{}$,;:()'\"=|]|\.\.\.|^/|^\.\./|^-")


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _documents(tree: Any) -> Iterator[tuple[str, str]]:
    for path in tree.select((".md",)):
        yield path, tree.text(path)


def paths(tree: Any) -> Iterator[Violation]:
    """Every path that a document names is there."""
    tops = {path.split("/")[0] for path in tree.files}
    rooms = {path.split("/")[1] for path in tree.files if path.count("/") > 1 and path[:4] == "src/"}
    for document, text in _documents(tree):
        # Blocks show commands, drawings and code.
        prose = _FENCE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
        for match in _QUOTED.finditer(prose):
            name = match[1].partition("#")[0]
            if _PATTERN.search(name):
                continue
            first = name.split("/")[0]
            if "/" in name and first in rooms and not tree.exists(name):
                name = f"src/{name}"
            elif not ("/" in name and first in tops or name.endswith(".md")):
                continue
            if not tree.exists(name):
                yield document, _line(prose, match.start()), f"'{match[1]}' does not exist"
        for match in _LINK.finditer(prose):
            target = match[1].partition("#")[0]
            if not target or "://" in target:
                continue
            if not tree.exists(str(PurePosixPath(document).parent / target)):
                yield document, _line(prose, match.start()), f"link to '{match[1]}' leads nowhere"


def faults(tree: Any) -> Iterator[Violation]:
    """Every test that docs/faults.md names is in the file that it names."""
    document = "docs/faults.md"
    if not tree.exists(document):
        return
    for number, row in enumerate(tree.text(document).splitlines(), 1):
        path = ""
        for word in re.findall(r"`[^`]+`|\b[A-Z]\w+\.[A-Z]\w+", row):
            if word.startswith("`"):
                path = word.strip("`")
                continue
            suite, name = word.split(".")
            if not path or not tree.exists(path):
                yield document, number, f"'{word}' is of no file"
            elif not re.search(rf"TEST(_[FP])?\({suite},\s*{name}\)", tree.text(path)):
                yield document, number, f"{path} has no test {word}"


def examples(tree: Any) -> Iterator[Violation]:
    """A block below the comment <!-- path --> is that file, to the letter."""
    for document, text in _documents(tree):
        for match in _SHOWN.finditer(text):
            line = _line(text, match.start())
            if not tree.exists(match[1]):
                yield document, line, f"shows '{match[1]}', which does not exist"
            elif tree.text(match[1]) != match[3]:
                yield document, line, f"the block differs from {match[1]}"


def versions(tree: Any) -> Iterator[Violation]:
    """The header and the newest changes have one version; the wheel reads the header."""
    header = "include/berth/version.h"
    text = tree.text(header)
    found = re.search(r'#define BERTH_VERSION "(.*)"', text)
    version = found[1] if found else ""
    parts = re.findall(r"#define BERTH_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text)
    if ".".join(parts) != version:
        yield header, 1, f"BERTH_VERSION is '{version}', its parts are {'.'.join(parts)}"
    path = "CHANGELOG.md"
    match = re.search(r"^## (\d\S*)", tree.text(path), re.MULTILINE)
    if match is None or match[1] != version:
        shown = match[1] if match else "nothing"
        yield path, 1, f"expected version {version}, as in {header}, found {shown}"


def codes(tree: Any) -> Iterator[Violation]:
    """docs/errors.md has each code, with its number, its name and its messages.

    A message is quoted as `Code: text [room/file.cpp]`. What is not between < and
    > must be in that file, apart from how the source breaks its strings.
    """
    header, document = "include/berth/error.h", "docs/errors.md"
    text = tree.text(document)
    known = re.findall(r"^  k(\w+) = (\d+),", tree.text(header), re.MULTILINE)
    for name, value in known:
        if f"| {value} | `{name}` |" not in text:
            yield document, 1, f"no row '| {value} | `{name}` |' for the code of {header}"
    names = "|".join(name for name, _ in known)
    for match in re.finditer(rf"`(?:{names}): ([^`]*) \[([\w/]+\.cpp)\]`", text):
        line = _line(text, match.start())
        path = match[2] if tree.exists(match[2]) else f"src/{match[2]}"
        if not tree.exists(path):
            yield document, line, f"'{match[2]}' does not exist"
            continue
        # Neighboring literals are one.
        source = re.sub(r'"\s*"', "", tree.text(path))
        for part in re.split(r"<[^>]*>", match[1]):
            if part and part not in source:
                yield document, line, f"{path} does not say '{part}'"


def main() -> None:
    root = Path(__file__).resolve().parents[1]
    for document in [*root.glob("*.md"), *root.glob("docs/*.md")]:
        text = document.read_text(encoding="utf-8")
        shown = _SHOWN.sub(lambda m: m[1] + m[2] + (root / m[1]).read_text(encoding="utf-8"), text)
        if shown != text:
            document.write_text(shown, encoding="utf-8")
            print(f"wrote {document.relative_to(root)}")


if __name__ == "__main__":
    main()
