r"""The class of every code point, as the package `regex` sees it: what `\p{L}`, `\p{N}`, `\s` ... mean to the kernels.

The classes are committed (`unicode_data.py`), so that text is cut alike everywhere: which version of Unicode `unicodedata` and
`regex` know depends on their release. `python -m ubpe_numba.text.unicode_classes` writes them anew, from the installed `regex`.

They are stored as runs of code points with equal flags: the flags of all runs, then the lowest bytes of their lengths, the middle
and the highest ones, compressed. The runs of U+0000..U+0020 are::

    flags    0, SPACE, SPACE | NEWLINE, SPACE, SPACE | NEWLINE, 0, SPACE
    lengths  9, 1,     1,               2,     1,               18, 1
"""

from __future__ import annotations

import base64
import functools
import importlib.metadata
import pathlib
import re
import zlib

import numpy as np

from ubpe_numba.text.kernels.utf8 import LETTER, LOWER, NEWLINE, NUMBER, SPACE, UPPER
from ubpe_numba.text.unicode_data import RUNS

__all__ = ["class_table", "flags_of_code_points"]

_SIZE = 0x110000
_BLOCK = 64  # code points that share all bytes of UTF-8 but the last
_CLASSES = {
    UPPER: r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+",
    LOWER: r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    LETTER: r"\p{L}+",
    NUMBER: r"\p{N}+",
    SPACE: r"\s+",
    NEWLINE: r"[\r\n]+",
}


def flags_of_code_points() -> np.ndarray:
    """uint8[0x110000]: the flags (kernels/utf8.py) of every code point, surrogates included.

    >>> flags_of_code_points()[[ord("e"), ord("5"), ord(" ")]].tolist()  # LOWER | LETTER, NUMBER, SPACE
    [6, 8, 16]
    """
    flat = np.frombuffer(zlib.decompress(base64.b85decode(RUNS)), np.uint8)
    n = flat.size // 4
    lengths = flat[n:].reshape(3, n).astype(np.int64)
    return np.repeat(flat[:n], lengths[0] | lengths[1] << 8 | lengths[2] << 16)


@functools.cache
def class_table() -> np.ndarray:
    """The table that kernels read, uint8, about 59 kB; made once a process. kernels/utf8.py has a drawing of it."""
    flags = flags_of_code_points().tobytes()
    ascii_blocks = flags[: 2 * _BLOCK]
    numbers: dict[bytes, int] = {}
    index = [numbers.setdefault(flags[i : i + _BLOCK], len(numbers) + 2) for i in range(0, _SIZE, _BLOCK)]
    return np.frombuffer(bytearray(b"".join([np.array(index, "<u2").tobytes(), ascii_blocks, *numbers])), np.uint8)


def flags_by_regex() -> np.ndarray:
    """uint8[0x110000]: the flags of every code point, as the package `regex` has them."""
    import regex  # here only: an extra

    everything = "".join(map(chr, range(_SIZE)))
    flags = np.zeros(_SIZE, np.uint8)
    for flag, pattern in _CLASSES.items():
        for found in regex.finditer(pattern, everything):
            flags[found.start() : found.end()] |= flag
    return flags


def unicode_of_regex() -> str:
    """The Unicode version of the installed `regex`, which only its description on the package index names; "" if it does not."""
    found = re.search(r"supports Unicode (\d+\.\d+\.\d+)", importlib.metadata.distribution("regex").read_text("METADATA") or "")
    return found[1] if found else ""


def _source(flags: np.ndarray, version: str) -> str:
    """The text of `unicode_data.py`: runs of equal flags, packed as the head of this file says."""
    starts = np.flatnonzero(np.diff(flags, prepend=0xFF))
    lengths = np.diff(starts, append=_SIZE).astype("<u4").view(np.uint8).reshape(-1, 4)
    packed = base64.b85encode(zlib.compress(np.concatenate([flags[starts], lengths[:, :3].T.reshape(-1)]).tobytes(), 9)).decode()
    lines = "\n".join(f'    "{packed[i : i + 120]}"' for i in range(0, len(packed), 120))
    about = '"""Written by `python -m ubpe_numba.text.unicode_classes`: the classes of all code points, compressed."""'
    return f'{about}\n\nUNICODE_VERSION = "{version}"\nRUNS = (\n{lines}\n)\n'


def main() -> None:
    """Write `unicode_data.py`."""
    path = pathlib.Path(__file__).with_name("unicode_data.py")
    path.write_text(_source(flags_by_regex(), unicode_of_regex()), encoding="ascii", newline="\n")


if __name__ == "__main__":
    main()
