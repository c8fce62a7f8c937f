"""Characters as the package tokenizers sees them where that differs from Python: what is a mark, what is lower case.

The parts of that package have tables of different, mostly old versions of Unicode, and Python's depend on its release. What the
models of `tokenizer.json` do to text is decided by these tables (`unicode_of_tokenizers_data.py`), so it is the same everywhere.

`python -m ubpe_numba.text.unicode_of_tokenizers` writes them anew from the installed package, every code point tried; it needs
Python 3.11, whose Unicode is the oldest of those supported.
"""

from __future__ import annotations

import functools
import pathlib
import struct
import unicodedata
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import numpy as np

from ubpe_numba.text import unicode_classes
from ubpe_numba.text.kernels import clusters
from ubpe_numba.text.unicode_of_tokenizers_data import CLUSTERS, LOWER, RUNS

__all__ = ["CONTROL", "INERT", "MARK", "NONSPACING", "PUNCTUATION", "cluster_kinds", "flags", "lower_case"]

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


@functools.cache
def cluster_kinds() -> np.ndarray:
    """uint8[0x110000]: how every code point forms clusters, the kinds of kernels/clusters.py; made once a process.

    >>> bool(cluster_kinds()[0x301] == clusters.EXTEND), int(cluster_kinds()[ord("a")])
    (True, 0)
    """
    return unicode_classes.unpacked(CLUSTERS)


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


def map_of_everything() -> bytes:
    """A map by which all but NUL become "z": one for a cluster of fewer than 6 bytes, else one for each of its characters.

    The nodes of its trie (drawn in kernels/sentencepiece.py) are the root and those with one, two, three and no bytes to come.
    """
    root, one, two, three, leaf = range(0x100, 0x600, 0x100)
    units = [0xFF] * 0x600
    units[0] = root << 10
    units[leaf] = 1 << 31  # the value 0: "z" begins there
    edges = ((root, 0x01, 0x80, leaf), (root, 0xC2, 0xE0, one), (root, 0xE0, 0xF0, two), (root, 0xF0, 0xF5, three))
    for node, first, last, to in (*edges, (one, 0x80, 0xC0, leaf), (two, 0x80, 0xC0, one), (three, 0x80, 0xC0, two)):
        for byte in range(first, last):
            units[node ^ byte] = (node ^ byte ^ to) << 10 | (to == leaf) << 8 | byte
    return struct.pack(f"<{len(units) + 1}I", 4 * len(units), *units) + b"z\0"


def found_cluster_kinds() -> np.ndarray:
    """uint8[0x110000]: the kinds of every code point in the clusters that the package forms; some twenty seconds."""
    change = import_module("tokenizers.normalizers").Precompiled(map_of_everything()).normalize_str
    found = np.zeros(unicode_classes.SIZE, np.uint8)
    found[0] = clusters.CONTROL
    for point in _points()[1:]:
        found[point] = _cluster_kind(chr(point), lambda text: len(change(text)))
    return found


def _cluster_kind(char: str, size: Callable[[str], int]) -> int:
    """The kind of a character, by how much of texts with it is left: an accent at the end shows what it belongs to."""
    accent, picture, joiner, consonant, linker = "\u0301", "\xa9", "\u200d", "\u0915", "\u094d"
    if size("A" + char) == 1:
        if size(consonant + char + consonant + accent) == 4:
            return clusters.LINKER
        keeps_picture = size(picture + char + joiner + picture + accent) == 5
        if size(consonant + linker + char + consonant + accent) == 5:
            return clusters.EXTEND if keeps_picture else clusters.JOINER
        return clusters.APART if keeps_picture else clusters.SPACING
    if size(char + "A") == 1:
        return clusters.PREPEND
    if size(char + 2 * accent) == 2:
        return clusters.CONTROL
    if size(char + joiner + picture + accent) == 4:
        return clusters.PICTURE
    if size(char + linker + consonant + accent) == 4:
        return clusters.CONSONANT
    before_vowel, before_trailing = size(char + "\u1161" + accent) == 3, size(char + "\u11a8" + accent) == 3
    if before_vowel and before_trailing:
        return clusters.VOWEL if size("\u1161" + char + accent) == 3 else clusters.OPEN_SYLLABLE
    if before_trailing:
        return clusters.TRAILING if size("\u11a8" + char + accent) == 3 else clusters.SYLLABLE
    return clusters.LEADING if before_vowel else clusters.OTHER


def main() -> None:
    """Write `unicode_of_tokenizers_data.py`."""
    if not unicodedata.unidata_version.startswith("14."):
        raise SystemExit(f"it needs Python 3.11, whose Unicode is 14.0: this one has {unicodedata.unidata_version}")
    path = pathlib.Path(__file__).with_name("unicode_of_tokenizers_data.py")
    lower = found_lower_case()
    lines = "\n".join(f'    "{ascii(lower[i : i + 10])[1:-1]}"' for i in range(0, len(lower), 10))
    about = '"""Written by `python -m ubpe_numba.text.unicode_of_tokenizers`: characters as the package tokenizers sees them."""'
    runs, kinds = unicode_classes.packed(found_flags()), unicode_classes.packed(found_cluster_kinds())
    path.write_text(
        f"{about}\n\nRUNS = (\n{runs}\n)\nCLUSTERS = (\n{kinds}\n)\nLOWER = (\n{lines}\n)\n", encoding="ascii", newline="\n"
    )


if __name__ == "__main__":
    main()
