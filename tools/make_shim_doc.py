#!/usr/bin/env python3
"""Writes docs/shim.md from the tables of what Berth serves; --check only compares."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "src/shim/served.inc"
BUILTIN = ROOT / "src/operators/builtin.inc"
PAGE = ROOT / "docs/shim.md"
ROW = re.compile(r"^BERTH_SERVED\((\w+), (\w+)\)$", re.MULTILINE)
OPERATOR = re.compile(r'^BERTH_OPERATOR\(\w+,\s*((?:"[^"]*"\s*)+)\)$', re.MULTILINE)

THEMES = {
    "constants": "The numbers that stand for dtypes, devices, layouts and "
    "memory formats.",
    "properties": "What a tensor says about itself.",
    "creation": "Making tensors, views and handles, and destroying them.",
    "transfer": "Copying and sharing what tensors hold.",
    "scalars": "Tensors of one element to numbers and back.",
    "runtime": "What is about no tensor: checks, warnings, gradient mode.",
    "gemm": "Matrix products.",
    "convolution": "Convolutions, transposed ones too, in one to three dimensions.",
    "recurrent": "Layers with a state: LSTM.",
    "attention": "Scaled dot product attention.",
    "fft": "Fourier transforms.",
    "scan": "Sums, products and extremes that run along a dimension.",
    "order": "Ordering the elements of a dimension.",
    "search": "Finding the place of values among bounds.",
    "select": "Picking elements.",
    "scatter": "Writing elements to places that a tensor names.",
    "views": "Other views of the same memory.",
    "embedding": "Bags of rows of a table.",
}

HEAD = """\
# What the shim serves

<!-- Written by tools/make_shim_doc.py from src/shim/served.inc and
     src/operators/builtin.inc. -->

A compiled library imports these C functions from libtorch. Berth renames the
imports in its copy of the library (`aoti_torch_x` becomes `aoti_berth_x`) and
serves them itself, {count} functions. A library that imports any other
`aoti_torch_*` function is refused before it is mapped, with all the missing
names in the error.

Served as well: `std::cerr`, so that a delegate prints nothing and its errors
reach the caller; `getenv`, so that a delegate checks its inputs unless
`AOTI_RUNTIME_CHECK_INPUTS` says otherwise; `__cxa_thread_atexit`, so that a
library can be unmapped; and the vector functions of SLEEF (`Sleef_*`), from the
system's libsleef, when a library imports them.

Operators that a package's library calls by name, through the proxy executor, are
those of the last section and those that a program registers with
`berth::register_operator` (`include/berth/operator.h`).

Not served: the dispatcher, through which a library would call operators of
libtorch itself; sparse, jagged and oneDNN layouts; devices other than the CPU.
"""

BY_NAME = """
## Operators by name

As a package's list names them, with torch's schemas.

"""


def page() -> str:
    rows = ROW.findall(TABLE.read_text())
    parts = [HEAD.format(count=len(rows))]
    for theme in dict.fromkeys(theme for _, theme in rows):
        text = THEMES.get(theme)
        if text is None:
            sys.exit(f"{TABLE}: describe the theme '{theme}' in {__file__}")
        parts.append(f"\n## {theme.capitalize()}\n\n{text}\n\n")
        parts += [f"- `aoti_torch_{name}`\n" for name, t in rows if t == theme]
    schemas = ["".join(re.findall('"([^"]*)"', text)) for text in OPERATOR.findall(BUILTIN.read_text())]
    parts.append(BY_NAME)
    parts += [f"- `{schema}`\n" for schema in schemas]
    return "".join(parts)


def main() -> int:
    wanted = page()
    if sys.argv[1:] == ["--check"]:
        if PAGE.exists() and PAGE.read_text() == wanted:
            return 0
        print(f"{PAGE} is stale: run tools/make_shim_doc.py", file=sys.stderr)
        return 1
    PAGE.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
