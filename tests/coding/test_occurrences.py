"""Occurrences of one token, the index of all, counts and document frequencies against the definition."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from reference.decode import count_tokens, occurrences
from tables import each, refuses

from ubpe_numba import BPE, Ragged, count_documents
from ubpe_numba.coding.occurrences import Occurrences, TokenIndex, usage_of
from ubpe_numba.errors import NotFittedError, UnknownTokenError


def rows(found: Occurrences) -> list[tuple[int, int, int]]:
    assert all(array.dtype == np.int64 for array in found)
    return list(zip(*(array.tolist() for array in found), strict=True))


@given(
    st.lists(st.lists(st.integers(0, 5), max_size=9), max_size=9),
    st.lists(st.integers(1, 2**40), min_size=6, max_size=6),
)
def test_equal_to_the_definition(docs: list[list[int]], sizes: list[int]) -> None:
    ids = Ragged.from_lists([[5, 0], *docs, [1]])[1:-1]  # values before and behind belong to no document
    index = TokenIndex(ids, np.array(sizes))
    assert len(index) == 6
    for token in range(6):
        expected = occurrences(docs, token, sizes)
        assert rows(index[token]) == expected and index.counts[token] == len(expected)
        assert index.document_frequencies[token] == len({document for document, _, _ in expected})
    assert [rows(found) for found in index] == [occurrences(docs, token, sizes) for token in range(6)]


@given(st.lists(st.lists(st.integers(0, 9), max_size=9), max_size=9), st.data())
def test_counts_and_document_frequencies(docs: list[list[int]], data: st.DataObject) -> None:
    copies = data.draw(st.lists(st.integers(0, 2**40), min_size=len(docs), max_size=len(docs)))
    counts, holding = count_tokens(docs, copies, 7)
    # ids of 7 and more are passed over
    found = usage_of(Ragged.from_lists([[3], *docs])[1:], 7, np.array(copies, np.int64))
    assert (found.counts.tolist(), found.document_frequencies.tolist()) == (counts, holding)
    assert found.n_documents == sum(copies) and found.unused.tolist() == [
        i for i in range(7) if counts[i] == 0
    ]
    gaps = np.arange(7) % 2 == 0
    found = usage_of(Ragged.from_lists(docs), 7, np.array(copies, np.int64), gaps=gaps)
    assert found.unused.tolist() == [i for i in (1, 3, 5) if counts[i] == 0]


def test_counted_documents_stand_for_their_copies() -> None:
    docs = ["abab", "b", "abab", ""]
    tok = BPE.from_merges([[0, 1], [2, 2]], alphabet="ab")
    for found in (
        tok.usage(count_documents(docs)),
        tok.usage(["abab", "b", ""], sample_weight=[2, 1, 1]),
        tok.usage(iter(docs)),
    ):
        assert [array.tolist() for array in found[:2]] == [
            [0, 1, 0, 2],
            [0, 1, 0, 2],
        ] and found.n_documents == 4
    with pytest.raises(TypeError, match="docs: Counts have offsets and weights of their own"):
        tok.usage(count_documents(docs), sample_weight=[1, 1, 1])
    refuses(TypeError, "unexpected argument 'return_offsets'", tok.usage, docs, return_offsets=True)


def test_of_a_tokenizer() -> None:
    """Starts are those that `encode` gives, special tokens and text of several bytes a character included."""
    docs = ["the low lower<e>", "", "löwe the<e>low"]
    tok = BPE.for_text(262, pretokenizer="gpt2", special_tokens=["<e>"]).fit(docs, progress=False)
    ids, starts = tok.encode_batch(docs, return_offsets=True, allowed_special="all")
    index = tok.index(ids)
    for token in np.unique(ids.values).tolist():
        expected = [
            (d, i, int(starts[d][i]))
            for d in range(len(ids))
            for i in np.flatnonzero(ids[d] == token).tolist()
        ]
        assert rows(index[token]) == expected
    found = tok.index(ids)[tok.vocabulary.special["<e>"]]  # positions are those of bytes
    assert (found.documents.tolist(), found.starts.tolist()) == ([0, 2], [13, 9])


@each("given", [[[2, 0], [2]], np.array([[2], [2]]), Ragged.from_lists([[2], [], [2]])])
def test_forms_of_ids(given: Any) -> None:
    tok = BPE.from_merges([[0, 1]], alphabet="ab")
    assert (
        tok.index(given)[2].documents.size
        == tok.index(given).counts[2]
        == tok.usage(ids=given).counts[2]
        == 2
    )
    assert rows(tok.index(np.array([0, 2, 2]))[2]) == [(0, 1, 1), (0, 2, 3)]
    assert rows(tok.index(np.array([0, 2, 2]), offsets=[0, 2, 3])[2]) == [(0, 1, 1), (1, 0, 0)]


def test_tokens_and_ids_that_cannot_be_looked_up_are_refused() -> None:
    tok = BPE.from_merges([[0, 1]], alphabet="ab")
    refuses(IndexError, r"token 3: expected 0\.\.2", lambda: tok.index([[2]])[3])
    refuses(IndexError, r"token -1: expected 0\.\.2", lambda: tok.index([[2]])[-1])
    refuses(TypeError, "token: expected an integer", lambda: tok.index([[2]])[1.0])
    for call in (lambda ids: tok.index(ids)[2], tok.index, lambda ids: tok.usage(ids=ids)):
        refuses(UnknownTokenError, "document 1, position 0", call, [[0], [3]])
        refuses(TypeError, "ids: expected documents, got a flat list", call, [0, 1])
    refuses(NotFittedError, "", lambda: BPE().index([[0]]))
