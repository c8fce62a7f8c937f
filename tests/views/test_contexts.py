"""Contexts hold what stands around an occurrence in its own document, and nothing else."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ubpe_numba.views.motifs import contexts_of, evenly


@given(st.lists(st.lists(st.integers(-9, 9), max_size=7), min_size=1, max_size=5), st.integers(1, 3), st.integers(0, 6))
def test_contexts_are_those_of_plain_slices(docs: list[list[int]], length: int, side: int) -> None:
    offsets = np.cumsum([0, *map(len, docs)])
    values = np.array([v for doc in docs for v in doc], np.float64)
    places = [(d, s) for d, doc in enumerate(docs) for s in range(len(doc) - length + 1)]
    documents, starts = np.array(places, np.int64).reshape(-1, 2).T
    found = contexts_of(values, offsets, documents, starts, length, side)
    assert found.shape == (len(places), 2 * side + length)
    for row, (d, s) in zip(found, places, strict=True):
        expected = [docs[d][i] if 0 <= i < len(docs[d]) else np.nan for i in range(s - side, s + length + side)]
        np.testing.assert_array_equal(row, expected)


@given(st.integers(0, 300), st.integers(2, 50))
def test_a_choice_at_even_distances_has_both_ends(n: int, most: int) -> None:
    found = evenly(n, most)
    assert found.size == min(n, most) and np.unique(found).size == found.size
    if n > most:
        assert found[0] == 0 and found[-1] == n - 1 and np.ptp(np.diff(found)) <= 1
