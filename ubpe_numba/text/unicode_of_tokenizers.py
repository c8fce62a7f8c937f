"""Characters as the package tokenizers sees them where that differs from Python: what is a mark, what is lower case.

The parts of that package have tables of different, mostly old versions of Unicode, and Python's depend on its release. What the
models of `tokenizer.json` do to text is decided by these tables (`unicode_of_tokenizers_data.py`), so it is the same everywhere.

`python -m ubpe_numba.text.unicode_of_tokenizers` writes them anew from the installed package, every code point tried; it needs
Python 3.11, whose Unicode is the oldest of those supported.
"""

from __future__ import annotations

import functools
import pathlib
import unicodedata
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import numpy as np

from ubpe_numba.text import unicode_classes
from ubpe_numba.text.unicode_of_tokenizers_data import LOWER, RUNS

__all__ = ["CONTROL", "INERT", "MARK", "NONSPACING", "PUNCTUATION", "flags", "lower_case"]

#: What StripAccents leaves out; what BertNormalizer leaves out as an accent, and as a control character; what Punctuation cuts.
MARK, NONSPACING, CONTROL, PUNCTUATION = 1, 2, 4, 8
#: What no normal form changes, joins or moves: characters of later versions of Unicode.
INERT = 16


@functools.cache
def flags() -> bytes:
    """The flags of every code point, surrogates have none; made once a process.

    >>> flags()[0x301] == MARK | NONSPACING, flags()[ord("!")] == PUNCTUATION, flags()[ord("a")]
    (True, True, 0)
    """
    return unicode_classes.unpacked(RUNS).tobytes()


@functools.cache
def lower_case() -> dict[int, str]:
    r"""The lower case of characters that have none in the oldest Python supported.

    >>> ascii(lower_case()[0xA7CB])
    "'\\u0264'"
    """
    return {ord(upper): lower for upper, lower in zip(LOWER[::2], LOWER[1::2], strict=True)}


# ---------------------------------------------------------------------------------------------------- writing the tables


def _points() -> list[int]:
    return [*range(0xD800), *range(0xE000, 0x110000)]


def _removed(step: Any) -> set[int]:
    """What a normalizer of the package leaves out."""
    return {point for point in _points() if not step.normalize_str(chr(point))}


def found_flags() -> np.ndarray:
    """uint8[0x110000]: the flags of every code point, from the installed package; some ten seconds."""
    normalizers = import_module("tokenizers.normalizers")
    only = dict.fromkeys(["clean_text", "handle_chinese_chars", "strip_accents", "lowercase"], False)
    found = np.zeros(unicode_classes.SIZE, np.uint8)
    found[[*_removed(normalizers.StripAccents())]] |= MARK
    found[[*_removed(normalizers.BertNormalizer(**(only | {"strip_accents": True})))]] |= NONSPACING
    found[[*_removed(normalizers.BertNormalizer(**(only | {"clean_text": True})))]] |= CONTROL
    cut = import_module("tokenizers.pre_tokenizers").Punctuation().pre_tokenize_str
    found[[point for point in _points() if len(cut(f"a{chr(point)}a")) == 3]] |= PUNCTUATION
    forms = [(form, getattr(normalizers, form)().normalize_str) for form in ("NFC", "NFD", "NFKC", "NFKD")]
    found[[point for point in _points() if _is_inert(chr(point), forms)]] |= INERT
    return found


def _is_inert(char: str, forms: Iterable[tuple[Any, Callable[[str], str]]]) -> bool:
    """Whether Python has no such character, or it is one that takes part in normal forms, but not for the package."""
    if unicodedata.category(char) == "Cn":
        return True
    if not unicodedata.combining(char) and not unicodedata.decomposition(char):
        return False
    probes = ("a\u0345" + char + "\u0334", char, "\u0345" + char)  # marks of the highest class and the lowest around it
    return any(change(text) != unicodedata.normalize(form, text) for form, change in forms for text in probes)


def found_lower_case() -> str:
    """Characters and their lower case in turn, where the package knows it and Python does not."""
    change = import_module("tokenizers.normalizers").Lowercase().normalize_str
    pairs = [(char, change(char)) for char in map(chr, _points()) if change(char) != char.lower()]
    return "".join(upper + lower for upper, lower in pairs)


def main() -> None:
    """Write `unicode_of_tokenizers_data.py`."""
    if not unicodedata.unidata_version.startswith("14."):
        raise SystemExit(f"it needs Python 3.11, whose Unicode is 14.0: this one has {unicodedata.unidata_version}")
    path = pathlib.Path(__file__).with_name("unicode_of_tokenizers_data.py")
    lower = found_lower_case()
    lines = "\n".join(f'    "{ascii(lower[i : i + 10])[1:-1]}"' for i in range(0, len(lower), 10))
    about = '"""Written by `python -m ubpe_numba.text.unicode_of_tokenizers`: characters as the package tokenizers sees them."""'
    runs = unicode_classes.packed(found_flags())
    path.write_text(f"{about}\n\nRUNS = (\n{runs}\n)\nLOWER = (\n{lines}\n)\n", encoding="ascii", newline="\n")


if __name__ == "__main__":
    main()
