"""What notebooks show of a `Ragged`."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from markup import parsed, pictures, words

from ubpe_numba.documents.ragged import Ragged


@given(st.lists(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=20), max_size=9))
def test_its_figures_are_those_of_the_documents(lists: list[list[int]]) -> None:
    total, flat = sum(map(len, lists)), [value for row in lists for value in row]
    text = words(parsed(Ragged.from_lists(lists)._repr_html_(), 6000))
    assert text.startswith(f"Ragged: {len(lists)} documents, {total} values")
    if lists:
        sizes = list(map(len, lists))
        assert f"lengths {min(sizes)} to {max(sizes)}, median {np.median(sizes):g}" in text
        assert ("empty documents" in text) == (0 in sizes)
        assert all(f"{i} {' '.join(map(str, row[:16]))}".strip() in text for i, row in enumerate(lists[:5]))
    if flat:
        assert f"values {min(flat)} to {max(flat)}" in text
    assert (f"and {len(lists) - 5} more" in text) == (len(lists) > 5)


def test_a_slice_shows_its_own_documents_only() -> None:
    whole = Ragged.from_lists([[999] * 40, [1, 2], [3]])
    text = words(parsed(whole[1:]._repr_html_()))
    assert "999" not in text and "lengths 1 to 2" in text and "values 1 to 3" in text


def test_a_large_batch_is_small() -> None:
    rng = np.random.default_rng(0)
    batch = Ragged.from_lengths(rng.integers(-(2**31), 2**31, 10**6).astype(np.int32), [10] * 10**5)
    root = parsed(batch._repr_html_(), 6000)
    assert len(pictures(root)) == 1 and "100,000 documents, 1,000,000 values" in words(root)
