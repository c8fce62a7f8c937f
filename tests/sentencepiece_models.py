"""Models of sentencepiece, made by hand for tests."""

from __future__ import annotations

import base64
from collections.abc import Iterable

from ubpe_numba.formats.protobuf import field

NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
UNIGRAM, BPE, WORD, CHARACTER = 1, 2, 3, 4
SPECIAL = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL)]
BYTES = [(f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256)]


def model(
    pieces: Iterable[tuple[str, float, int]],
    kind: int = UNIGRAM,
    *,
    prefix: bool = False,
    suffix: bool = False,
    remove: bool = False,
    escape: bool = True,
    by_bytes: bool = False,
    charsmap: bytes = b"",
) -> bytes:
    """The content of a `.model` file."""
    rows = [field(1, field(1, name.encode()) + field(2, float(score)) + field(3, type_)) for name, score, type_ in pieces]
    trainer = field(3, kind) + field(24, int(suffix)) + field(35, int(by_bytes))
    text = field(2, charsmap) + field(3, int(prefix)) + field(4, int(remove)) + field(5, int(escape))
    return b"".join(rows) + field(2, trainer) + field(3, text)


def encoded(blob: bytes) -> str:
    """A map of characters as a `tokenizer.json` holds it."""
    return base64.b64encode(blob).decode()
