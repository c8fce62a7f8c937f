"""Spans of documents against what `encode` says of each, one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubpe_numba import BPE, UBPE, Preprocessing

DOCS = [[0, 1, 2, 0, 1], [], [2, 0, 1], [1, 1]]


@given(st.lists(st.lists(st.integers(0, 2), max_size=12), max_size=6))
def test_a_row_for_each_token(docs: list[list[int]]) -> None:
    tok = BPE.from_merges([[0, 1], [3, 2], [1, 1]], alphabet=3)
    spans = tok.spans(docs)
    expected = []
    for d, doc in enumerate(docs):
        at = 0
        for token in tok.encode(np.array(doc, np.int64)).tolist():
            size = len(tok._model.vocabulary.sequence(token))
            expected.append((token, at, size, d))
            at += size
        assert at == len(doc)
    assert list(zip(*(array.tolist() for array in spans), strict=True)) == expected
    assert [array.dtype for array in spans] == [np.int32, np.int64, np.int64, np.int64]


def test_one_document_flat_arrays_and_iterators() -> None:
    tok = UBPE(8, 2).fit(DOCS, progress=False)
    flat = np.concatenate([np.array(doc, np.int64) for doc in DOCS])
    expected = tok.spans(DOCS)
    for found in (tok.spans(flat, [0, 5, 5, 8, 10]), tok.spans(iter(DOCS))):
        assert all(map(np.array_equal, found, expected))
    one = tok.spans(np.array(DOCS[0]))
    assert one.ids.tolist() == tok.encode(DOCS[0]).tolist() and set(one.documents.tolist()) == {0}
    drawn = tok.spans(DOCS, sample=0.1, seed=3)
    assert np.array_equal(drawn.ids, tok.encode_batch(DOCS, sample=0.1, seed=3).values)


@pytest.mark.parametrize(
    "preprocessing, options, doc, expected",
    [  # start and end of each token in the text as given
        (Preprocessing(normalizer="Lowercase"), {}, "AB b", [(0, 2), (2, 3), (3, 4)]),
        (Preprocessing(normalizer={"type": "Strip", "strip_left": True, "strip_right": True}), {}, " ab ", [(1, 4)]),
        (None, {"unknown": "skip"}, "abxab?", [(0, 3), (3, 6)]),
        (None, {"unknown": 0}, "abxab", [(0, 2), (2, 3), (3, 5)]),
    ],
)
def test_where_text_is_changed(preprocessing: Any, options: Any, doc: str, expected: list[tuple[int, int]]) -> None:
    """A token then ends where the next one begins, or the document does."""
    tok = BPE(4, alphabet="ab ", preprocessing=preprocessing).fit(["abab", "ab"], progress=False)
    spans = tok.spans([doc, "", doc], **options)
    places = list(zip(spans.starts.tolist(), (spans.starts + spans.lengths).tolist(), strict=True))
    assert places == expected * 2 and spans.documents.tolist() == [0] * len(expected) + [2] * len(expected)


def test_spans_refuse_to_return_offsets() -> None:
    with pytest.raises(TypeError, match="unexpected argument 'return_offsets'"):
        BPE.from_merges([[0, 1]], alphabet="ab").spans(["ab"], return_offsets=True)
