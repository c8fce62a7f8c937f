"""GPT-2's table of bytes, equal to that of the package tokenizers."""

from __future__ import annotations

import pytest

from ubpe_numba.text.characters import byte_characters, bytes_of, names_of

tokenizers = pytest.importorskip("tokenizers")


def test_table_as_the_package_tokenizers() -> None:
    table = byte_characters()
    assert table == [c for c, _ in sorted(tokenizers_table().items(), key=lambda item: item[1])]
    assert names_of(bytes(range(256))) == "".join(table) and bytes_of("".join(table)) == bytes(range(256))


def tokenizers_table() -> dict[str, int]:
    """The table by Hugging Face: every character of its alphabet, by the byte that decodes from it."""
    decoder = tokenizers.decoders.ByteLevel()
    ascii_only = {c: decoder.decode([c]) for c in tokenizers.pre_tokenizers.ByteLevel.alphabet()}
    table = {c: ord(byte) for c, byte in ascii_only.items() if byte != "\ufffd"}
    level = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    for point in (*range(0x80, 0x800), *range(0x1000, 0x10000, 0x400), 0x10000, 0x50000, 0x90000, 0xD0000, 0x100000, 0x10FFFF):
        if not 0xD800 <= point < 0xE000:
            [(letters, _)] = level.pre_tokenize_str(chr(point))
            table |= dict(zip(letters, chr(point).encode(), strict=True))
    others = sorted(set(tokenizers.pre_tokenizers.ByteLevel.alphabet()) - table.keys())
    rest = sorted(set(range(256)) - set(table.values()))  # bytes that never are part of UTF-8: in order
    return table | dict(zip(others, rest, strict=True))
