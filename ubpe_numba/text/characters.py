"""GPT-2's table of bytes: a character that can be seen for each of the 256, by which vocabularies name the bytes of a text.

Characters one by one: which are white space, and what a normalizer makes of each, another text or none.
"""

from __future__ import annotations

import functools
from importlib import import_module
from itertools import accumulate
from typing import Any

__all__ = [
    "BYTE_OF",
    "WHITE_SPACE",
    "as_nmt",
    "byte_characters",
    "bytes_of",
    "clean",
    "ideograph_apart",
    "named_bytes",
    "names_of",
    "tables",
    "without_accent",
    "without_mark",
]


def byte_characters() -> list[str]:
    """The character that names each byte in GPT-2's table: 188 printable bytes name themselves, the other 68 go from U+0100 on.

    >>> table = byte_characters()
    >>> table[65], table[32], table[10], len(set(table))
    ('A', 'Ġ', 'Ċ', 256)
    """
    themselves = frozenset([*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)])
    numbers = list(accumulate((byte not in themselves for byte in range(256)), initial=0))
    return [chr(byte if byte in themselves else 0x100 + numbers[byte]) for byte in range(256)]


_NAME_OF = dict(enumerate(byte_characters()))
#: The byte that each character names.
BYTE_OF = {name: byte for byte, name in _NAME_OF.items()}
_BYTE_OF = str.maketrans(BYTE_OF)


def names_of(data: bytes) -> str:
    r"""The characters that name bytes, one each.

    >>> names_of(b" \xc3\xa9")
    'ĠÃ©'
    """
    return data.decode("latin-1").translate(_NAME_OF)


def bytes_of(names: str) -> bytes:
    r"""The bytes that characters name; characters up to U+00FF that name none are that byte.

    >>> bytes_of("ĠÃ©")
    b' \xc3\xa9'
    """
    return names.translate(_BYTE_OF).encode("latin-1")


def named_bytes(name: str) -> bytes:
    """The bytes that the name of a token stands for; those of its text if it has a character that names no byte.

    >>> named_bytes("Ġa"), named_bytes(" a")
    (b' a', b' a')
    """
    return bytes_of(name) if BYTE_OF.keys() >= set(name) else name.encode("utf-8", "surrogatepass")


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
