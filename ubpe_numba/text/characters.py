"""GPT-2's table of bytes, a visible character for each of the 256; white space characters."""

from __future__ import annotations

from itertools import accumulate


def byte_characters() -> list[str]:
    """The character that names each byte in GPT-2's table.

    188 printable bytes name themselves, the other 68 go from U+0100 on.

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
    """The bytes that a token's name spells; those of its text if it has a character that names no byte.

    >>> named_bytes("Ġa"), named_bytes(" a")
    (b' a', b' a')
    """
    return bytes_of(name) if BYTE_OF.keys() >= set(name) else name.encode("utf-8", "surrogatepass")


#: White space as Rust has it (the property White_Space): Python's `str.isspace` has four control characters
#: more.
WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
)
