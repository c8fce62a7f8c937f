"""The classes of all code points for `ubpe_numba/text/unicode_data.py`, written anew by this script.

`python tools/unicode_tables.py FILES` takes the newest version of Unicode from the installed `regex`, and
older ones from the files `DerivedGeneralCategory-*.txt` of the Unicode Character Database; versions that are
there stay.
"""

from __future__ import annotations

import base64
import importlib.metadata
import pathlib
import re
import sys
import zlib

import numpy as np

from ubpe_numba.text import unicode_classes
from ubpe_numba.text.kernels.utf8 import LETTER, LOWER, NEWLINE, NUMBER, SIGN, SPACE, UPPER
from ubpe_numba.text.unicode_classes import SIZE, VERSIONS, flags_of_code_points

_CLASSES = {
    UPPER: r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+",
    LOWER: r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    LETTER: r"\p{L}+",
    NUMBER: r"\p{N}+",
    SIGN: r"[\p{P}\p{S}]+",
    SPACE: r"\s+",
    NEWLINE: r"[\r\n]+",
}


def flags_by_regex() -> np.ndarray:
    """uint8[0x110000]: the flags of every code point, as the package `regex` has them."""
    import regex  # here only: an extra

    everything = "".join(map(chr, range(SIZE)))
    flags = np.zeros(SIZE, np.uint8)
    for flag, pattern in _CLASSES.items():
        for found in regex.finditer(pattern, everything):
            flags[found.start() : found.end()] |= flag
    return flags


def unicode_of_regex() -> str:
    """The Unicode version of the installed `regex`, which only its description on the package index names; "" if it does not."""
    found = re.search(
        r"supports Unicode (\d+\.\d+\.\d+)",
        importlib.metadata.distribution("regex").read_text("METADATA") or "",
    )
    return found[1] if found else ""


def flags_by_categories(lines: list[str]) -> np.ndarray:
    """uint8[0x110000]: the same from the lines of a file of general categories; white space is that of the newest version.

    >>> flags_by_categories(["0041..005A    ; Lu #  [26] LATIN CAPITAL LETTER A..", "# a comment"])[[65, 97]].tolist()
    [5, 0]
    """
    flags = flags_of_code_points() & (SPACE | NEWLINE)
    for line in lines:
        points, _, category = line.partition("#")[0].partition(";")
        if kind := category.strip():
            first, _, last = points.strip().partition("..")
            flags[int(first, 16) : int(last or first, 16) + 1] |= _of_category(kind)
    return flags


def _of_category(kind: str) -> int:
    flag = {"L": LETTER, "N": NUMBER, "P": SIGN, "S": SIGN}.get(kind[0], 0)
    upper, lower = kind in ("Lu", "Lt"), kind == "Ll"
    both = kind in ("Lm", "Lo") or kind[0] == "M"
    return flag | UPPER * (upper or both) | LOWER * (lower or both)


def packed(flags: np.ndarray) -> str:
    """Runs of equal flags, packed as the head of unicode_classes.py says, as lines of a Python literal."""
    starts = np.flatnonzero(np.diff(flags, prepend=~flags[:1]))
    lengths = np.diff(starts, append=SIZE).astype("<u4").view(np.uint8).reshape(-1, 4)
    packed = base64.b85encode(
        zlib.compress(np.concatenate([flags[starts], lengths[:, :3].T.reshape(-1)]).tobytes(), 9)
    ).decode()
    return "\n".join(f'    "{packed[i : i + 120]}"' for i in range(0, len(packed), 120))


def _source(flags: np.ndarray, version: str, older: dict[str, np.ndarray]) -> str:
    """The text of `unicode_data.py`: the flags of all code points in the newest version, and what differs in older ones."""
    about = '"""Written by `tools/unicode_tables.py`: the classes of all code points, compressed."""'
    parts = [f'{about}\n\nUNICODE_VERSION = "{version}"\nRUNS = (\n{packed(flags)}\n)\nOLDER = {{\n']
    parts += [
        f'"{name}": (\n{packed(flags ^ old)}\n),\n' for name, old in sorted(older.items(), reverse=True)
    ]
    return "".join([*parts, "}  # fmt: skip\n"])


def main(paths: list[str]) -> None:
    """Write `unicode_data.py`; versions that it has stay."""
    older = {name: flags_of_code_points(name) for name in VERSIONS}
    for path in map(pathlib.Path, paths):
        older[path.stem.rpartition("-")[2]] = flags_by_categories(path.read_text("utf-8").splitlines())
    newest = unicode_of_regex()
    older.pop(newest, None)
    path = pathlib.Path(unicode_classes.__file__).with_name("unicode_data.py")
    path.write_text(_source(flags_by_regex(), newest, older), encoding="ascii", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
