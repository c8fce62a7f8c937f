r"""The class of every code point, as the package `regex` sees it: `\p{L}`, `\p{N}`, `\s` ...

The classes are committed (`unicode_data.py`, written by `tools/unicode_tables.py`), so that text is split
alike everywhere: the Unicode versions of `unicodedata` and `regex` depend on their releases. Models of other
libraries split by their own versions: an older version is its difference from the newest.

They are stored as runs of code points with equal flags: the flags of all runs, then the lowest bytes of their
lengths, the middle and the highest ones, compressed. The runs of U+0000..U+0020 of the newest version are::

    flags    0, SPACE, SPACE | NEWLINE, SPACE, SPACE | NEWLINE, 0, SPACE
    lengths  9, 1,     1,               2,     1,               18, 1
"""

from __future__ import annotations

import base64
import functools
import re
import zlib

import numpy as np

from ubpe_numba.text.kernels.utf8 import CJK, LETTER, LOWER, SIGN, UPPER
from ubpe_numba.text.unicode_data import OLDER, RUNS, UNICODE_VERSION

#: The versions of Unicode whose classes are known, the newest first.
VERSIONS = (UNICODE_VERSION, *OLDER)

# Its table is made by the first call, without a lock: another thread then meets a part of it (Python 3.11).
base64.b85decode(b"")

SIZE = 0x110000
_BLOCK = 64  # code points that share all bytes of UTF-8 but the last


def flags_of_code_points(version: str = UNICODE_VERSION) -> np.ndarray:
    """The flags (kernels/utf8.py) of every code point in a version of `VERSIONS`: uint8[0x110000].

    Surrogates are included.

    >>> flags_of_code_points()[[ord("e"), ord("5"), ord(" ")]].tolist()  # LOWER | LETTER, NUMBER, SPACE
    [6, 8, 16]
    >>> flags_of_code_points("16.0.0")[0x16EA0], flags_of_code_points()[0x16EA0]  # UPPER | LETTER since 17.0
    (np.uint8(0), np.uint8(5))
    """
    flags = np.zeros(SIZE, np.uint8)
    for runs in [RUNS] if version == UNICODE_VERSION else [RUNS, OLDER[version]]:
        flat = np.frombuffer(zlib.decompress(base64.b85decode(runs)), np.uint8)
        n = flat.size // 4
        lengths = flat[n:].reshape(3, n).astype(np.int64)
        flags ^= np.repeat(flat[:n], lengths[0] | lengths[1] << 8 | lengths[2] << 16)
    return flags


@functools.cache
def class_table(version: str = UNICODE_VERSION, kind: str = "") -> np.ndarray:
    """The table that kernels read, uint8, about 60 kB; made once per process.

    It is shown in kernels/utf8.py.

    `kind` is "" for most patterns, "marks" if marks are letters, and "deepseek": there CJK and SIGN have
    flags too, and LOWER separates punctuation from characters without a class.
    """
    flags = flags_of_code_points(version)
    if kind:
        flags[flags & (UPPER | LOWER | LETTER) == UPPER | LOWER] |= LETTER
    else:
        flags &= ~np.uint8(SIGN)
    if kind == "deepseek":
        flags[flags & SIGN > 0] |= LOWER
        flags[0x3040:0x3100] |= CJK
        flags[0x4E00:0x9FA6] |= CJK
    blocks = flags.reshape(-1, _BLOCK)
    new = np.append(True, (blocks[1:] != blocks[:-1]).any(axis=1))  # most are equal to the block before
    numbers: dict[bytes, int] = {}
    numbers_of = np.array(
        [numbers.setdefault(block.tobytes(), len(numbers) + 2) for block in blocks[new]], "<u2"
    )
    index = numbers_of[np.cumsum(new) - 1].tobytes()
    return np.frombuffer(bytearray(b"".join([index, flags[: 2 * _BLOCK].tobytes(), *numbers])), np.uint8)


@functools.cache
def _changed(version: str) -> tuple[re.Pattern[str], dict[str, str]]:
    """A class of all characters that have other flags today.

    Also for each a character that still has its old flags.
    """
    now, then = flags_of_code_points(), flags_of_code_points(version)
    changed = np.flatnonzero(now != then)
    as_before = {
        int(flags): chr(int(np.flatnonzero((now == then) & (now == flags))[-1]))
        for flags in np.unique(then[changed])
    }
    bounds = np.flatnonzero(np.diff(changed) > 1)
    ranges = zip(
        changed[np.append(0, bounds + 1)].tolist(), changed[np.append(bounds, -1)].tolist(), strict=True
    )
    pattern = re.compile("[" + "".join(f"{chr(a)}-{chr(b)}" for a, b in ranges) + "]")
    return pattern, {chr(point): as_before[int(then[point])] for point in changed.tolist()}


def as_of(version: str, text: str) -> str:
    r"""The text with replacements for characters that had another class in an older Unicode version.

    >>> ascii(as_of("16.0.0", "a\U00016ea0"))
    "'a\\U0010ffff'"
    """
    pattern, table = _changed(version)
    return pattern.sub(lambda found: table[found[0]], text)
