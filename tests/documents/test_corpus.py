"""Weights and boundaries of documents: the containers that are accepted, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fit_cases import make, merges
from reference import fit as reference
from tables import each

from ubpe_numba import BPE, Ragged, UBPEClassic, count_documents


@each(
    "weights, error",
    [
        ([1.0, 2.0], TypeError), (np.array([1.0, 2.0]), TypeError), (["1", "2"], TypeError), ([1, None], TypeError),
        ([], ValueError), ([1, 1, 1], ValueError), ([1, -1], ValueError), ([2**61, 0], ValueError), ([2**60, 2**60], ValueError),
        (np.array([2**63, 0], np.uint64), ValueError),
    ],
)  # fmt: skip
def test_bad_weights_are_refused(weights: Any, error: type[Exception]) -> None:
    docs = [[0, 1], [1, 0]]
    for call in (lambda: BPE(9).fit(docs, sample_weight=weights), lambda: count_documents(docs, sample_weight=weights)):
        with pytest.raises(error, match="^sample_weight"):
            call()
    for empty, large in (([[], []], [2**61, 2**61]), ([[], [1]], [2**62, 1])):
        with pytest.raises(ValueError, match="sample_weight"):
            BPE(9, alphabet=4).fit(empty, sample_weight=large, progress=False)


DOCS = [[0, 1, 2, 0, 1, 2, 0, 1], [], [2, 0, 1, 2, 0], [0, 1, 2]]
CUTS: list[list[int]] = [[5, 2, 5, 0], [], [1, 4, 5], [3]]


def test_boundaries_in_every_container() -> None:
    """Boundaries of many documents and of one, for documents in every container."""
    tok = make(UBPEClassic, 9, 3, alphabet=3)

    def learned(docs: Any, cuts: Any, **options: Any) -> Any:
        return tok.fit(docs, boundaries=cuts, progress=False, **options)._model.vocabulary

    want = learned(DOCS, CUTS)
    assert [tuple(merge) for merge in merges(tok)] == reference.fit(DOCS, 3, 9, 3, boundaries=CUTS)[0]
    batch = Ragged.from_lists(DOCS)
    for cuts in (tuple(CUTS), [np.array(cut, np.uint8) for cut in CUTS], Ragged.from_lists(CUTS)):
        assert learned(DOCS, cuts) == learned(batch.values, cuts, offsets=batch.offsets) == want
    one = learned([DOCS[0]], [CUTS[0]])
    assert learned(np.array(DOCS[0]), CUTS[0]) == learned(bytes(DOCS[0]), np.array(CUTS[0])) == one
    assert learned(np.array([DOCS[0]] * 2), [CUTS[0]] * 2).counts[3] == 2 * one.counts[3]
    tok = make(UBPEClassic, 9, 3)
    np.testing.assert_array_equal(learned("".join("aß😀"[i] for i in DOCS[0]), CUTS[0]).merges, one.merges)


@each(
    "cuts, error, what",
    [
        ([[1.5], []], TypeError, ""), ([["1"], []], TypeError, ""), ([[], np.array([0.5])], TypeError, ""), (3, TypeError, ""),
        ([[1]], ValueError, ""), ([[], [], []], ValueError, ""), (Ragged.from_lists([[1]]), ValueError, ""),
        ([[1, 4], []], ValueError, "document 0.* 4"), ([[0, 3], [1, -1]], ValueError, "document 1.* -1"),
        (Ragged.from_lists([[], [3]]), ValueError, "document 1.* 3"),
    ],
)  # fmt: skip
def test_bad_boundaries_are_refused(cuts: Any, error: type[Exception], what: str) -> None:
    with pytest.raises(error, match=f"^boundaries.*{what}"):
        BPE(9).fit([[0, 1, 0], [1, 0]], boundaries=cuts)
    with pytest.raises(ValueError, match=r"^boundaries.*document 0.* 5"):
        BPE(9).fit("abab", boundaries=[5])
