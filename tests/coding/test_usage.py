"""Counts and document frequencies of encoded documents against the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.count_tokens import count_tokens

from ubpe_numba import BPE, Ragged, count_documents
from ubpe_numba.coding.occurrences import usage_of


@given(st.lists(st.lists(st.integers(0, 9), max_size=9), max_size=9), st.data())
def test_counts_and_document_frequencies(docs: list[list[int]], data: st.DataObject) -> None:
    copies = data.draw(st.lists(st.integers(0, 2**40), min_size=len(docs), max_size=len(docs)))
    counts, holding = count_tokens(docs, copies, 7)
    found = usage_of(Ragged.from_lists([[3], *docs])[1:], 7, np.array(copies, np.int64))  # ids of 7 and more are passed over
    assert (found.counts.tolist(), found.document_frequencies.tolist()) == (counts, holding)
    assert found.n_documents == sum(copies)
    assert found.unused.tolist() == [i for i in range(7) if counts[i] == 0]
    gaps = np.arange(7) % 2 == 0
    found = usage_of(Ragged.from_lists(docs), 7, np.array(copies, np.int64), gaps=gaps)
    assert found.unused.tolist() == [i for i in (1, 3, 5) if counts[i] == 0]


def test_threads_change_nothing() -> None:
    rng = np.random.default_rng(0)
    docs = Ragged.from_lists(list(rng.integers(0, 50, (700, 400))))
    one = usage_of(docs, 50, None, 1)
    for n_threads in (2, 5):
        again = usage_of(docs, 50, None, n_threads)
        assert np.array_equal(again.counts, one.counts)
        assert np.array_equal(again.document_frequencies, one.document_frequencies)


def test_counted_documents_stand_for_their_copies() -> None:
    docs = ["abab", "b", "abab", ""]
    tok = BPE.from_merges([[0, 1], [2, 2]], alphabet="ab")
    for found in (tok.usage(count_documents(docs)), tok.usage(["abab", "b", ""], sample_weight=[2, 1, 1]), tok.usage(iter(docs))):
        assert [array.tolist() for array in found[:2]] == [[0, 1, 0, 2], [0, 1, 0, 2]] and found.n_documents == 4
    with pytest.raises(TypeError, match="docs: Counts have offsets and weights of their own"):
        tok.usage(count_documents(docs), sample_weight=[1, 1, 1])
    with pytest.raises(TypeError, match="unexpected argument 'return_offsets'"):
        tok.usage(docs, return_offsets=True)
