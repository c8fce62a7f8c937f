"""Where a corpus is cut into shards."""

from __future__ import annotations

import numpy as np

from ubpe_numba.fitting.shards import cut


def test_cuts_lie_between_documents_where_they_are_near() -> None:
    offsets = np.array([0, 100, 195, 200, 300, 1000])
    assert cut(offsets, 5).at.tolist() == [0, 200, 400, 600, 800, 1000]
    assert cut(offsets, 5).inside.tolist() == [False, False, True, True, True, False]
    assert cut(offsets, 1).at.tolist() == [0, 1000]
    assert cut(np.array([7]), 4).at.tolist() == [7, 7]
    assert cut(np.array([5, 5, 5]), 3).segment.tolist() == [0, 2]
    many = cut(np.arange(0, 2**40, 2**30), 64)  # offsets past 2**31
    assert many.at[-1] == 2**40 - 2**30
    assert np.all(np.diff(many.at) > 2**33)
