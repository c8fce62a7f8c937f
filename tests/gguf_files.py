"""Files of gguf: as much of the format as vocabularies need, and what is not valid in it."""

import struct
from typing import Any, NamedTuple

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
LAYOUTS = {
    U8: "B",
    I8: "b",
    U16: "H",
    I16: "h",
    U32: "I",
    I32: "i",
    F32: "f",
    BOOL: "?",
    U64: "Q",
    I64: "q",
    F64: "d",
}
PREFIX = "tokenizer.ggml."


class Typed(NamedTuple):
    """A value, or the values of an array, of a type that Python's does not say."""

    kind: int
    value: Any


def string(text: str | bytes) -> bytes:
    """A string, or any bytes in place of one.

    >>> string("ab").hex()
    '02000000000000006162'
    """
    data = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(data)) + data


def _one(kind: int, value: Any) -> bytes:
    return string(value) if kind == STRING else struct.pack("<" + LAYOUTS[kind], value)


def _kind(value: Any) -> int:
    kinds = {bool: BOOL, int: U32, float: F32, str: STRING, bytes: STRING}
    return kinds[type(value)]


def value_of(value: Any) -> bytes:
    """The type of a value, and its bytes.

    Lists are arrays; integers in them are signed, and single ones are not.

    >>> value_of([1]).hex()
    '0900000005000000010000000000000001000000'
    """
    kind, value = value if isinstance(value, Typed) else (None, value)
    if not isinstance(value, list):
        kind = _kind(value) if kind is None else kind
        return struct.pack("<I", kind) + _one(kind, value)
    if kind is None:
        kind = I32 if value and type(value[0]) is int else _kind(value[0])
    return struct.pack("<IIQ", ARRAY, kind, len(value)) + b"".join(_one(kind, item) for item in value)


def gguf(fields: list[tuple[str | bytes, Any]], version: int = 3, n_fields: int | None = None) -> bytes:
    """A file of fields, with values, or `bytearray` of what stands behind a name; and a tensor of no substance."""
    parts = [
        string(name) + (value if isinstance(value, bytearray) else value_of(value)) for name, value in fields
    ]
    n = len(fields) if n_fields is None else n_fields
    return b"GGUF" + struct.pack("<IQQ", version, 1, n) + b"".join(parts)


def vocabulary(kind: str, tokens: list[str], **fields: Any) -> bytes:
    """The file of a vocabulary; names of fields have `__` in place of a dot."""
    rows = [("general.architecture", "llama"), (PREFIX + "model", kind), (PREFIX + "tokens", tokens)]
    return gguf([*rows, *((PREFIX + name.replace("__", "."), value) for name, value in fields.items())])
