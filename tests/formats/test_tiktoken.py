"""To and from tiktoken: merges are found again from ranks; hostile files are refused."""

from __future__ import annotations

import numpy as np
import pytest
from foreign import line
from hypothesis import given, settings
from hypothesis import strategies as st

from ubpe_numba import BPE, ModelFormatError


@settings(max_examples=60)
@given(st.lists(st.text("abc", max_size=30), max_size=4), st.integers(0, 20), st.data())
def test_pairs_of_tokens_from_ranks(docs: list[str], more: int, data: st.DataObject) -> None:
    tok = BPE(256 + more, alphabet=bytes(range(256)), encoding="utf-8").fit(docs, progress=False)
    again = BPE.from_tiktoken(tok.to_tiktoken())
    assert np.array_equal(again.vocabulary.merges, tok.vocabulary.merges)
    text = data.draw(st.text("abc", max_size=40))
    assert tok.to_tiktoken_encoding().encode(text) == tok.encode(text).tolist()


pytest.importorskip("tiktoken")

BYTES = b"".join(line(bytes([b]), b) for b in range(256))
RANKS: list[tuple[bytes, str]] = [
    (b"", "expected at least one token"),
    (b"###  1\n", "line 1: not base64"),
    (line(b"a", "x"), "line 1: expected a token in base64 and its rank"),
    (line(b"a", -1), "line 1: expected a token in base64 and its rank"),
    (line(b"a", 10**12), "line 1: expected a token in base64 and its rank"),
    (line(b"a", 0) * 2, "line 2: the token b'a' is there twice"),
    (line(b"a", 0) + line(b"b", 0), "the tokens b'a' and b'b' have the same rank 0"),
    (b"YQ==\n", "line 1: expected a token"),
    (b" 0\n", "line 1"),
    (BYTES + line(b"abc", 256), "the token b'abc' of rank 256 is not made of others"),
    (BYTES + line(b"abc", 256) + line(b"ab", 257), "merges: a token is in a pair of lower rank than its own"),
    (BYTES + line(b"bc", 256) + line(b"ab", 257) + line(b"abc", 258) + line(b"abcd", 400_000), "not made of|expected 0"),
    (line(b"a", 0) + line(b"ab", 1), "the token b'ab' of rank 1 is not made of others"),
    (BYTES + line(b"a" * 20_000, 256), "tokens are too long"),
    (line(b"ab", 0), "expected 1..256 symbols|is not made of others"),
    (b"\x00\xff\n", "line 1"),
]


@pytest.mark.parametrize("data, match", RANKS, ids=range(len(RANKS)))
def test_hostile_ranks(data: bytes, match: str) -> None:
    with pytest.raises(ModelFormatError, match=match):
        BPE.from_tiktoken(data)
