"""Characters one by one: which are white space, and what a normalizer makes of each, another text or none."""

from __future__ import annotations

import functools
from importlib import import_module
from typing import Any

__all__ = ["WHITE_SPACE", "as_nmt", "clean", "ideograph_apart", "tables", "without_accent", "without_mark"]

#: White space as Rust has it (the property White_Space): Python's `str.isspace` has four control characters more.
WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"


@functools.cache
def tables() -> Any:
    """How the package tokenizers sees characters: a module that few texts need."""
    return import_module("ubpe_numba.text.unicode_of_tokenizers")


def without_mark(character: str) -> str:
    """Nothing for a mark of any kind: what StripAccents does."""
    return "" if tables().flags()[ord(character)] & tables().MARK else character


def without_accent(character: str) -> str:
    """Nothing for a nonspacing mark: what BertNormalizer calls an accent."""
    return "" if tables().flags()[ord(character)] & tables().NONSPACING else character


_NMT_LEFT_OUT = frozenset([*range(0x01, 0x09), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F, 0x9F])
_NMT_SPACES = frozenset([9, 10, 12, 13, 0x1680, *range(0x200B, 0x2010), 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD])


def as_nmt(character: str) -> str:
    """Nothing for a control character, a space for some that are white space or a break: what Nmt does."""
    point = ord(character)
    return "" if point in _NMT_LEFT_OUT else " " if point in _NMT_SPACES else character


def clean(character: str) -> str:
    """Nothing for a control character, a space for white space: what BertNormalizer calls clean."""
    if tables().flags()[ord(character)] & tables().CONTROL:
        return ""
    return " " if character in WHITE_SPACE else character


_IDEOGRAPHS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


def ideograph_apart(character: str) -> str:
    """An ideograph with a space on either side: what BertNormalizer does for Chinese."""
    return f" {character} " if any(first <= ord(character) <= last for first, last in _IDEOGRAPHS) else character
