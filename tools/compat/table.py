"""Compares what make_packages.py left behind, as Markdown for a document.

    python tools/compat/table.py DIR

One row a version of torch. Columns that have the same in every row come last, in
one line each: what does not differ needs no column.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Facts = dict[str, Any]
Version = dict[str, Facts]  # by case
Cell = Callable[[Version], str]


def read(root: Path) -> dict[str, Version]:
    """All facts in `root`, the oldest version first."""
    found: dict[str, Version] = {}
    for path in root.glob("*/*/facts.json"):
        text = path.read_text(encoding="utf-8")
        found.setdefault(path.parts[-3], {})[path.parts[-2]] = json.loads(text)
    return dict(sorted(found.items(), key=lambda item: _number(item[0])))


def _number(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]


def library(version: Version) -> Facts:
    """What is known of the library in the plainest package."""
    libraries = version.get("default", {}).get("libraries", {})
    return next(iter(libraries.values()), {})


def wrapper(version: Version) -> Facts:
    wrappers = version.get("default", {}).get("wrappers", {})
    return next(iter(wrappers.values()), {})


def layout(facts: Facts) -> list[str]:
    """Names of entries without what is by chance: hashes, and the numbers of many."""
    names = (re.sub(r"\w{4}~", "*", name) for name in facts.get("entries", {}))
    return sorted({re.sub(r"_\d+$", "_*", name) for name in names})


def _listed(items: list[str]) -> str:
    return ", ".join(f"`{item}`" for item in items) or "none"


def _yes(value: bool | None) -> str:
    return {True: "yes", False: "no"}.get(value, "unknown")


def _needed(version: Version) -> str:
    return _listed(library(version).get("needed", []))


def _metadata(version: Version) -> str:
    entries = version.get("default", {}).get("metadata", {}).values()
    return _listed(sorted({key for entry in entries for key in entry}))


def _case(name: str) -> Cell:
    """What a package of this case has beside the entries of the plain one."""

    def cell(version: Version) -> str:
        facts = version.get(name, {"error": "not made"})
        if "error" in facts:
            return f"no: {_brief(facts['error'])}"
        plain = layout(version.get("default", {}))
        agrees = facts.get("torch_agrees")
        doubt = "" if agrees is True else f"; torch's own loader: {_brief(str(agrees))}"
        extra = [entry for entry in layout(facts) if entry not in plain]
        return (_listed(extra) if extra else "as `default`") + doubt

    return cell


def _brief(text: str) -> str:
    lines = text.strip().splitlines() or ["no reason given"]
    return lines[-1].replace("|", "\\|")[:120]


def _checks(version: Version) -> str:
    return "<br>".join(
        message.replace("input_handles[0]: ", "").replace("\\n", "")
        for message in wrapper(version).get("messages_of_input_0", [])
    )


def _refusals(version: Version) -> dict[str, dict[str, str]]:
    found = version.get("default", {}).get("refusals", {})
    return found if isinstance(found, dict) else {}


def _refused(version: Version) -> str:
    found = _refusals(version)
    if not found:
        return "unknown"
    passed = [name for name, said in found.items() if said["raised"] == "nothing"]
    return "all wrong inputs" if not passed else f"all but {', '.join(passed)}"


def _told(version: Version) -> str:
    """Whether a caller learns what the library found wrong, or only stderr does."""
    said = _refusals(version).get("dtype", {})
    return "yes" if "unmatched dtype" in said.get("raised", "") else "printed only"


def _setting(version: Version) -> str:
    settings = version.get("entries", {}).get("settings", {})
    return _listed([f"{key}={value}" for key, value in settings.items()])


COLUMNS: dict[str, Cell] = {
    "libraries needed": _needed,
    "unique symbols": lambda version: str(library(version).get("unique_symbols")),
    "prints on error": lambda version: _yes(library(version).get("prints_on_error")),
    "metadata": _metadata,
    "entries": lambda version: _listed(layout(version.get("default", {}))),
    "case `external`": _case("external"),
    "case `entries`": _case("entries"),
    "settings of `entries`": _setting,
    "case `multi`": _case("multi"),
    "case `mutates`": _case("mutates"),
    "checks of input 0, in order": _checks,
    "rank checked": lambda version: wrapper(version).get("rank_check", "unknown"),
    "refused when asked to check": _refused,
    "error text reaches the caller": _told,
}
LISTS = {"exports": "exports", "imports of torch": "imports_of_torch"}


def _change(key: str, now: Version, before: Version | None) -> tuple[list[str], ...]:
    names = set(library(now).get(key, []))
    old = names if before is None else set(library(before).get(key, []))
    return sorted(names - old), sorted(old - names)


def _rows(versions: dict[str, Version], differ: list[str]) -> Iterator[str]:
    heads = ["torch", *LISTS, *differ]
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    before = None
    for name, version in versions.items():
        cells = [name]
        for key in LISTS.values():
            added, gone = _change(key, version, before)
            count = len(library(version).get(key, []))
            cells.append(
                f"{count}" + (f" (+{len(added)} -{len(gone)})" if before else "")
            )
        cells += [COLUMNS[column](version) for column in differ]
        yield f"| {' | '.join(cells)} |"
        before = version


def _changes(versions: dict[str, Version]) -> Iterator[str]:
    before = None
    for name, version in versions.items():
        for title, key in LISTS.items():
            added, gone = _change(key, version, before)
            if added:
                yield f"- {name}, {title}, added: {_listed(added)}"
            if gone:
                yield f"- {name}, {title}, gone: {_listed(gone)}"
        before = version


def render(root: Path) -> str:
    """The whole comparison."""
    versions = read(root)
    if not versions:
        return f"Nothing was made in {root}"
    cells = {
        column: {cell(version) for version in versions.values()}
        for column, cell in COLUMNS.items()
    }
    differ = [column for column, values in cells.items() if len(values) > 1]
    lines = [*_rows(versions, differ), "", *_changes(versions), ""]
    for column, values in cells.items():
        if column not in differ:
            lines += [f"- The same in all, {column}: {''.join(values)}"]
    return "\n".join(lines)


if __name__ == "__main__":
    print(render(Path(sys.argv[1])))
