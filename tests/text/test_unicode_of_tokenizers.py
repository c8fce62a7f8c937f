"""The tables are those of the installed package tokenizers."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest

from ubpe_numba.text import unicode_of_tokenizers as tables
from ubpe_numba.text.splitter import Splitter


def test_flags_are_those_that_the_package_shows() -> None:
    pytest.importorskip("tokenizers")
    known = np.uint8(tables.MARK | tables.NONSPACING | tables.CONTROL | tables.PUNCTUATION)
    if unicodedata.unidata_version.startswith("14."):  # of others test_normalizer.py tries every character
        known |= np.uint8(tables.INERT)
    assert np.array_equal(np.frombuffer(tables.flags(), np.uint8) & known, tables.found_flags() & known)


def test_lower_case() -> None:
    pytest.importorskip("tokenizers")
    found = tables.found_lower_case()
    known = {chr(upper): lower for upper, lower in tables.lower_case().items()}
    assert {upper: known[upper] for upper in found[::2]} == dict(zip(found[::2], found[1::2], strict=True))


def test_cluster_kinds() -> None:
    pytest.importorskip("tokenizers")
    assert np.array_equal(tables.cluster_kinds(), tables.found_cluster_kinds())


@pytest.mark.parametrize("kind", ["Punctuation", "BertPreTokenizer", "Whitespace", "WhitespaceSplit", "Digits"])
def test_every_character_is_cut_alike(kind: str) -> None:
    cut = getattr(pytest.importorskip("tokenizers.pre_tokenizers"), kind)().pre_tokenize_str
    text = "a".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
    assert Splitter(kind).pieces(text) == [piece for piece, _ in cut(text)]
