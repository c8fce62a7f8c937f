"""Boundaries of documents in every container; what is refused is in `test_ways_on.py`."""

from typing import Any

import numpy as np
from fit_cases import make, merges
from reference import fit as reference

from ubpe_numba import Ragged, UBPEClassic

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
