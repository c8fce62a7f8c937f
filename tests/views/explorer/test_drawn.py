"""Which documents are drawn: whole ones at even distances, as many as fit."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ubpe_numba.documents.read import as_documents
from ubpe_numba.views.explorer.counts import as_given, choose


@given(st.lists(st.integers(0, 30), max_size=60), st.integers(1, 200))
def test_what_is_drawn_fits(lengths: list[int], most: int) -> None:
    sizes = np.array(lengths, np.int64)
    indices, limit = choose(sizes, most)
    assert (np.diff(indices) > 0).all()
    if sizes.sum() <= most:
        assert indices.tolist() == list(range(sizes.size)) and limit is None
    elif limit is None:
        assert 0 < sizes[indices].sum() <= most
    else:
        assert limit == most and indices.size == 1 and sizes[indices[0]] > most


def test_they_stand_at_even_distances_from_the_first_to_the_last() -> None:
    indices, limit = choose(np.full(1000, 10), 200)
    assert limit is None and indices.size == 20 and indices[0] == 0 and indices[-1] == 999
    assert set(np.diff(indices).tolist()) <= {52, 53}


def test_one_long_document_does_not_hide_the_others() -> None:
    sizes = np.full(100, 10)
    sizes[0] = 10_000
    indices, limit = choose(sizes, 500)
    assert limit is None and sizes[indices].sum() > 0 and 0 not in indices


def test_documents_are_given_on_as_they_came() -> None:
    for docs in (["añb", "\ud800"], [b"ab", b"c"], [[1, 2], [3]]):
        found = as_documents(docs)
        again = as_documents(*as_given(found))
        assert again.kind == found.kind and np.array_equal(again.values, found.values)
