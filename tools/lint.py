"""House rules that a compiler does not hold.

    .venv/bin/python tools/lint.py

Prints each violation as path:line: text and, last, how many checks passed and
failed; exits with 1 when one failed. A check is a function that takes the tree
and yields violations as (path, line, text); its docstring says the rule. Those
about documents are in check_docs.py.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

import check_docs

Violation = tuple[str, int, str]
Check = Callable[["Tree"], Iterator[Violation]]

# Everything else at the top is built, installed or somebody's own.
FOLDERS = (
    ".ci", "bench", "cli", "cmake", "docs", "examples",
    "executorch", "include", "python", "src", "tests", "tools",
)
ROOMS = ("base", "elf", "library", "tensor", "shim", "operators", "model", "pack", "c")
CLI_MAY_INCLUDE = {"executorch/payload.h", "executorch/program.h"}

# Lines. The aim for sources is 300.
BUDGETS = {
    "CMakeLists.txt": 100,
    "README.md": 150,
    "CONTRIBUTING.md": 150,
    "docs/architecture.md": 200,
}
SOURCE_BUDGET = 400
PUBLIC_HEADER_BUDGET = 200
FUNCTION_BUDGET = 60
PUBLIC_HEADERS_MOST = 15

# Where exceptions may be caught or thrown, and why.
MAY_USE_EXCEPTIONS = {
    "src/c/guard.h": "C cannot be thrown through",
    "src/c/guard.cpp": "keeping the sentence of a failure must not fail",
    "src/shim/trap.h": "nothing may be thrown into a delegate's frames",
    "src/shim/runtime.cpp": "a failed check of a delegate must not return to it",
    "src/operators/external_calls.cpp": "users' operators and the JSON library throw",
    "executorch/backend.cpp": "ExecuTorch is not built to be thrown through",
    "cli/main.cpp": "the argument parser and the JSON library throw",
    "python/bindings/errors.cpp": "nanobind hands exceptions on to Python",
}

# What git ignores inside them; lib is where Python finds Berth's own build.
SKIPPED_FOLDERS = re.compile(r"__pycache__|build|lib|\.pytest_cache|\.hypothesis|.*\.egg-info")
CXX = (".h", ".cpp")
SOURCES = (*CXX, ".c", ".inc", ".py", ".sh", ".cmake")

# Comments and literals. A raw string counts up to the first )".
_NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"\(.*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL
)
_INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


class Skipped(Exception):
    """A check that cannot be made here, with the reason."""


class Tree:
    """The files of the project, read once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._texts: dict[str, str] = {}

    @cached_property
    def files(self) -> list[str]:
        """Paths from the root, sorted."""
        found = [entry.name for entry in self.root.iterdir() if entry.is_file()]
        for folder in FOLDERS:
            for at, folders, names in os.walk(self.root / folder):
                folders[:] = [name for name in folders if not SKIPPED_FOLDERS.fullmatch(name)]
                here = Path(at).relative_to(self.root)
                found += [(here / name).as_posix() for name in names]
        return sorted(path for path in found if (self.root / path).is_file())

    def select(self, suffixes: tuple[str, ...], *folders: str) -> Iterator[str]:
        """Files that end so, in these folders or anywhere."""
        for path in self.files:
            if path.endswith(suffixes) and (not folders or path.split("/")[0] in folders):
                yield path

    def text(self, path: str) -> str:
        if path not in self._texts:
            # What is not UTF-8 is found by the check for ASCII.
            raw = (self.root / path).read_bytes()
            self._texts[path] = raw.decode("utf-8", "surrogateescape")
        return self._texts[path]

    def code(self, path: str) -> str:
        """C++ with comments and literals blanked; lines stay where they are."""
        return _NOT_CODE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), self.text(path))

    def exists(self, path: str) -> bool:
        return (self.root / path).exists()


def line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def is_test(path: str) -> bool:
    """Whether a file is for tests or measurements only, by its name or its folder."""
    return path.startswith("tests/") or re.search(r"_(test|fuzz|bench|testing|fakes)\.", path) is not None


def includes(tree: Tree, path: str) -> Iterator[tuple[int, str]]:
    text = tree.text(path)
    for match in _INCLUDE.finditer(text):
        yield line_of(text, match.start(1)), match[1]


def layers(tree: Tree) -> Iterator[Violation]:
    """A room of src/ includes itself, rooms to its left and public headers."""
    for path in tree.select((*CXX, ".inc"), "src"):
        room = path.split("/")[1]
        if room not in ROOMS:
            yield path, 1, f"src/ has the rooms {', '.join(ROOMS)}; '{room}' is none"
            continue
        for line, header in includes(tree, path):
            other = header.split("/")[0]
            if other in ROOMS and ROOMS.index(other) > ROOMS.index(room):
                yield path, line, f"{room}/ is before {other}/ and must not include {header}"
            elif other in ("cli", "executorch", "python", "bench") and "/" in header:
                # ExecuTorch's own headers are there, too; src/ uses neither.
                yield path, line, f"src/ must not include {header}"


def borders(tree: Tree) -> Iterator[Violation]:
    """Outside src/, code sees public headers only; those see only each other."""
    for path in tree.select(CXX, "include", "executorch", "cli", "python", "bench", "examples"):
        room = path.split("/")[0]
        for line, header in includes(tree, path):
            other = header.split("/")[0]
            if other in ROOMS and "/" in header:
                yield path, line, f"{room}/ must not include {header} of src/"
            ours = tree.exists(header) and other != room
            if ours and not (room == "cli" and header in CLI_MAY_INCLUDE):
                yield path, line, f"{room}/ must not include {header}"


def budgets(tree: Tree) -> Iterator[Violation]:
    """No file is longer than what can be read at one go."""
    for path in tree.files:
        most = BUDGETS.get(path)
        if most is None and path.startswith("include/berth/"):
            most = PUBLIC_HEADER_BUDGET
        elif most is None and path.endswith(SOURCES):
            most = SOURCE_BUDGET
        if most is not None and (lines := len(tree.text(path).splitlines())) > most:
            yield path, lines, f"{lines} lines, at most {most} are allowed"


def public_headers(tree: Tree) -> Iterator[Violation]:
    """The public surface stays small."""
    headers = [path for path in tree.files if path.startswith("include/berth/")]
    if len(headers) > PUBLIC_HEADERS_MOST:
        text = f"the last of {len(headers)} public headers, at most {PUBLIC_HEADERS_MOST}"
        yield headers[-1], 1, f"{text} are allowed"


def function_lengths(tree: Tree) -> Iterator[Violation]:
    """A function fits on a screen (C++: those that begin in the first column)."""
    spans: list[tuple[str, int, int]] = []
    for path in tree.select((".py",)):
        for node in ast.walk(ast.parse(tree.text(path))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                spans.append((path, node.lineno, node.end_lineno or node.lineno))
    for path in tree.select(CXX):
        start = None
        for number, line in enumerate(tree.code(path).split("\n"), start=1):
            if line.startswith("}") and start is not None:
                spans.append((path, start, number))
                start = None
            elif re.match(r"[\w\[~]", line):
                no_function = r"(namespace|class|struct|union|enum|using|extern|typedef)\b|.*="
                start = None if re.match(no_function, line) else start or number
            if line.endswith(";") and not line.startswith(" "):
                start = None
    for path, first, last in spans:
        if (lines := last - first + 1) > FUNCTION_BUDGET:
            yield path, first, f"function of {lines} lines, at most {FUNCTION_BUDGET} are allowed"


def pragma_once(tree: Tree) -> Iterator[Violation]:
    """A header's first line that is no comment is #pragma once."""
    for path in tree.select((".h",)):
        lines = tree.text(path).splitlines()
        first = next((n for n, s in enumerate(lines) if s and not s.startswith("//")), 0)
        if not lines or lines[first] != "#pragma once":
            yield path, first + 1, "expected #pragma once before everything but comments"


def cards(tree: Tree) -> Iterator[Violation]:
    """A public class with functions says who owns, which threads, what fails."""
    begin = re.compile(
        r"((?:^//[^\n]*\n)*)^(?:class|struct) (?:\[\[\w+\]\] )?(?:BERTH_API )?(\w+)[^;{]*\{"
        r"(.*?)^\};",
        re.MULTILINE | re.DOTALL,
    )
    for path in tree.select((".h",), "include"):
        text = tree.text(path)
        for match in begin.finditer(text):
            body = _NOT_CODE.sub("", match[3])
            # A type before the name: constructors alone need no card.
            has_functions = re.search(r"[\w>&*] +[&*]*(operator\W+|\w+)\(", body)
            if has_functions and not re.search(r"^// (Owns|Threads|Units|Fails)\b", match[1], re.M):
                line = line_of(text, match.start(2))
                yield path, line, f"{match[2]} has no card (Owns, Threads, Units, Fails) above it"


def exceptions(tree: Tree) -> Iterator[Violation]:
    """Exceptions end, and begin, only where a reason is listed."""
    used = set()
    for path in tree.select(CXX, "include", "src", "executorch", "cli", "python"):
        if is_test(path):
            continue
        code = tree.code(path)
        for match in re.finditer(r"\b(try|catch|throw)\b", code):
            used.add(path)
            if path not in MAY_USE_EXCEPTIONS:
                yield path, line_of(code, match.start()), f"'{match[0]}' in a file not listed for it"
    for path in sorted(MAY_USE_EXCEPTIONS.keys() - used):
        yield "tools/lint.py", 1, f"{path} may use exceptions and does not: unlist it"


def silence(tree: Tree) -> Iterator[Violation]:
    """The library neither prints nor ends the process."""
    noisy = re.compile(
        r"std::(cout|cerr|clog|terminate|abort|exit|_Exit)\b|\b(f?printf|f?puts|perror)\s*\("
        r"|(?<![\w.>])(abort|_?exit|quick_exit)\s*\("
    )
    for path in tree.select((*CXX, ".inc"), "include", "src", "executorch", "python"):
        if is_test(path):
            continue
        code = tree.code(path)
        for match in noisy.finditer(code):
            yield path, line_of(code, match.start()), f"'{match[0]}': the library must not"


def macros(tree: Tree) -> Iterator[Violation]:
    """Macros share one name space with everybody: ours begin with BERTH_."""
    for path in tree.select((*CXX, ".c", ".inc")):
        text = tree.text(path)
        for match in re.finditer(r"^\s*#\s*define\s+(\w+)", text, re.MULTILINE):
            if not match[1].startswith("BERTH_"):
                yield path, line_of(text, match.start(1)), f"macro {match[1]} lacks BERTH_"


def ascii_only(tree: Tree) -> Iterator[Violation]:
    """Sources and documents are ASCII, so that they look alike everywhere."""
    for path in tree.select((*SOURCES, ".md", ".txt", "Makefile", ".json", ".toml")):
        for number, line in enumerate(tree.text(path).split("\n"), start=1):
            if found := next((c for c in line if not c.isascii()), None):
                yield path, number, f"{found!a} is not ASCII"


def forbidden(tree: Tree) -> Iterator[Violation]:
    """No file knows the machine that it was written on."""
    # Put together here, so that this file does not hold them.
    words = [f"/{folder}/" for folder in ("work", "root", "home")]
    words += ["/tmp" + "/setup"]
    words += [name + ".org" for name in ("pypi", "files.python" "hosted", "deb." "debian")]
    pattern = re.compile("|".join(map(re.escape, words)))
    for path in tree.files:
        if path.startswith("tests/corpus/"):
            continue
        text = tree.text(path)
        for match in pattern.finditer(text):
            yield path, line_of(text, match.start()), f"'{match[0]}' belongs to one machine"


def listed(tree: Tree) -> Iterator[Violation]:
    """Every source, test and fuzz target is in its folder's CMakeLists.txt."""
    for path in tree.select((".cpp",), "src", "executorch", "cli", "python", "tests", "bench", "examples"):
        folder, _, name = path.rpartition("/")
        kind = re.fullmatch(r"(\w+)_(test|fuzz)\.cpp", name)
        if kind:
            wanted = rf"berth_\w*{kind[2]}\(\s*{kind[1]}\b"
            text = f"berth_{kind[2]}({kind[1]})"
        elif folder.startswith("tests/"):
            continue  # Named by the rooms that use them.
        else:
            # A folder inside a room is listed by the room.
            while not tree.exists(f"{folder}/CMakeLists.txt"):
                folder = folder.rpartition("/")[0]
            text = path.removeprefix(folder + "/")
            wanted = rf"(?<![\w/]){re.escape(text)}(?!\w)"
        cmake = f"{folder}/CMakeLists.txt"
        if not tree.exists(cmake) or not re.search(wanted, tree.text(cmake)):
            yield path, 1, f"{cmake} does not list {text}"
        if kind and kind[2] == "fuzz" and tree.exists(cmake):
            # Committed, or written by a script.
            made = re.search(rf"berth_fuzz\(\s*{kind[1]}\s+SEEDS\s+(\w+)", tree.text(cmake))
            seeds = f"tools/make_{made[1]}_seeds.py" if made else f"tests/corpus/{kind[1]}"
            if not tree.exists(seeds):
                yield path, 1, f"no seeds: {seeds} is missing"


def base_names(tree: Tree) -> Iterator[Violation]:
    """A base name occurs once in src/, so that an error's place is plain."""
    seen: dict[str, str] = {}
    for path in tree.select((*CXX, ".inc"), "src"):
        folder, _, name = path.rpartition("/")
        first = seen.setdefault(name.partition(".")[0], folder)
        if first != folder:
            yield path, 1, f"{first}/ has a file of this name, too"


def formatting(tree: Tree) -> Iterator[Violation]:
    """C++ is as clang-format 14 writes it."""
    tool = shutil.which("clang-format-14")
    if tool is None:
        raise Skipped("clang-format-14 is not installed")
    folders = ("include", "src", "executorch", "cli", "python", "tests", "examples", "bench")
    paths = list(tree.select(CXX, *folders))
    command = [tool, "--dry-run", "-Werror", "--ferror-limit=1", *paths]
    done = subprocess.run(command, cwd=tree.root, capture_output=True, text=True, check=False)
    found = re.findall(r"^(\S+?):(\d+):\d+: error: ", done.stderr, re.MULTILINE)
    for path, line in dict(found).items():
        yield path, int(line), "not as clang-format-14 writes it"
    if done.returncode != 0 and not found:
        raise RuntimeError(f"clang-format-14: {done.stderr.strip()}")


def shim_doc(tree: Tree) -> Iterator[Violation]:
    """docs/shim.md is what the table of served functions makes of it."""
    maker = "tools/make_shim_doc.py"
    if not tree.exists(maker):
        raise Skipped(f"{maker} does not exist")
    command = [sys.executable, maker, "--check"]
    done = subprocess.run(command, cwd=tree.root, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = " ".join((done.stdout + done.stderr).split())
        yield "docs/shim.md", 1, f"stale, run {maker}: {said}"


CHECKS: tuple[Check, ...] = (
    layers,
    borders,
    budgets,
    public_headers,
    function_lengths,
    pragma_once,
    cards,
    exceptions,
    silence,
    macros,
    ascii_only,
    forbidden,
    listed,
    base_names,
    formatting,
    shim_doc,
    check_docs.paths,
    check_docs.examples,
    check_docs.versions,
    check_docs.codes,
    check_docs.faults,
)


def main() -> int:
    tree = Tree(Path(__file__).resolve().parents[1])
    passed = failed = 0
    for check in CHECKS:
        try:
            violations = sorted(check(tree))
        except Skipped as reason:
            print(f"skipped {check.__name__}: {reason}")
            continue
        for path, line, text in violations:
            print(f"{path}:{line}: {text}")
        passed += not violations
        failed += bool(violations)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
