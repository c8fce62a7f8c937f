"""Where each token stands: `return_offsets` of all three tokenizers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubpe_numba import BPE, UBPE, Ragged, UBPEClassic

CLASSES = [BPE, UBPEClassic, UBPE]
CORPUS = ["abcabd", "abab", "", "cabcab", "ddd"]
TOKENIZERS = {
    (cls.__name__, kind): cls(9).fit([convert(d) for d in CORPUS], progress=False)
    for cls in CLASSES
    for kind, convert in (("str", str), ("bytes", str.encode), ("int", lambda d: [ord(c) - 200 for c in d]))
    if kind != "bytes"
} | {(cls.__name__, "bytes"): cls(262).fit([d.encode() for d in CORPUS], progress=False) for cls in CLASSES}
CONVERT: dict[str, Any] = {"str": str, "bytes": str.encode, "int": lambda d: [ord(c) - 200 for c in d]}


@given(st.sampled_from(list(TOKENIZERS)), st.lists(st.text("abcdx", max_size=12), max_size=5))
def test_tokens_stand_where_they_say(which: tuple[str, str], docs: list[str]) -> None:
    """Each token's symbols, in order, at increasing positions of the original; between them only what was skipped."""
    tok, convert = TOKENIZERS[which], CONVERT[which[1]]
    known = "abcdx" if which[1] == "bytes" else "abcd"
    given_docs = [convert(d) for d in docs]
    batch, starts = tok.encode_batch(given_docs, unknown="skip", return_offsets=True)
    assert batch == tok.encode_batch(given_docs, unknown="skip")
    assert isinstance(starts, Ragged) and starts.lengths.tolist() == batch.lengths.tolist()
    for doc, given_doc, ids, begins in zip(docs, given_docs, batch, starts, strict=True):
        kept = [i for i, c in enumerate(doc) if c in known]
        where = 0
        for token, begin in zip(ids.tolist(), begins.tolist(), strict=True):
            assert begin == kept[where]
            where += tok._model.vocabulary.sequence(token).size
        assert where == len(kept)
        one, single = tok.encode(given_doc, unknown="skip", return_offsets=True)
        assert one.tolist() == ids.tolist() and single.dtype == np.int64 and single.tolist() == begins.tolist()
        if len(kept) == len(doc) > 0:  # a token reaches to the next one
            ends = [*begins.tolist()[1:], len(doc)]
            for token, begin, end in zip(ids, begins, ends, strict=True):
                assert tok.decode([token]) == (given_doc[begin:end] if which[1] != "int" else pytest.approx(given_doc[begin:end]))
    replaced, places = tok.encode_batch(given_docs, unknown=1, return_offsets=True)
    for d, ids, begins in zip(docs, replaced, places, strict=True):
        sizes = np.diff(tok._model.vocabulary.offsets)[ids]
        assert begins.tolist() == (np.cumsum(sizes) - sizes).tolist() and sizes.sum() == len(d)


def test_starts_in_slices_of_a_flat_array() -> None:
    """Of a `Ragged`, whose offsets may start above 0 in memory."""
    tok = BPE.from_merges([[0, 1]], alphabet=[5, 6])
    given = Ragged(np.array([5, 5, 6, 9, 5, 6, 6, 9, 5, 5], np.int32), np.array([1, 4, 4, 10]))
    ids, starts = tok.encode_batch(given, unknown="skip", return_offsets=True)
    assert ids.to_lists() == [[2], [], [2, 1, 0, 0]]
    assert starts.to_lists() == [[0], [], [0, 2, 4, 5]]


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0])
def test_starts_of_tokens_with_dropout(p: float) -> None:
    tok = BPE.from_merges([[0, 1], [2, 2]], alphabet="ab")
    ids, starts = tok.encode_batch(["abababa", "xab"], sample=p, seed=2, unknown="skip", return_offsets=True)
    for token, start in zip(ids[0], starts[0], strict=True):
        assert "abababa"[start:].startswith(tok.decode([token]))
    assert starts[1][0] == 1
