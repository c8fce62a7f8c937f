"""GPT-2's table of bytes, by its rule and of the characters of the package tokenizers."""

import pytest

from ubpe_numba.text.characters import byte_characters, bytes_of, named_bytes, names_of


def test_bytes_that_are_shown_are_themselves_and_others_follow() -> None:
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(0x100, 0x200))
    table = [chr(byte if byte in shown else next(others)) for byte in range(256)]
    assert byte_characters() == table and names_of(bytes(range(256))) == "".join(table)
    assert named_bytes("".join(table)) == bytes(range(256))
    assert bytes_of("".join(table)) == bytes(range(256))
    assert {*pytest.importorskip("tokenizers").pre_tokenizers.ByteLevel.alphabet()} == {*table}
