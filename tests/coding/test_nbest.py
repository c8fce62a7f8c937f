"""The result of a batch of searches: candidates and weights by document, slices, pickles."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from ubpe_numba import UBPE
from ubpe_numba.coding.n_best import NBest


def test_what_a_batch_gives() -> None:
    docs = [[0, 1, 0, 1, 1], [], [1, 0, 1], [2]]
    tok = UBPE(6, 2, alphabet=3).fit(docs, progress=False)
    found = tok.encode_nbest(docs, 3)
    assert isinstance(found, NBest) and repr(found) == f"NBest(4 documents, {len(found.candidates)} candidates)"
    assert [len(candidates) for candidates, _ in found] == np.diff(found.offsets).tolist()
    assert all(tok.decode(path).tolist() == doc for doc, (paths, _) in zip(docs, found, strict=True) for path in paths)
    part = found[1:3]
    assert len(part) == 2 and part[0][0].to_lists() == [[]] and part[-1][0] == found[2][0]
    assert len(found[4:]) == 0 and len(found[3:1]) == 0
    for same in (pickle.loads(pickle.dumps(found)), found[:]):
        assert same.candidates == found.candidates and same.offsets.tolist() == found.offsets.tolist()
        assert same.weights.tolist() == found.weights.tolist()
    assert len(pickle.loads(pickle.dumps(part)).candidates.values) == part.candidates.total
    with pytest.raises(IndexError, match=r"index: expected a document in -4..3, got 4"):
        found[4]
    with pytest.raises(ValueError, match="index: expected a slice of step 1"):
        found[::2]
    with pytest.raises(TypeError, match="index: expected an integer or a slice"):
        found["a"]
    empty = tok.encode_nbest([], 3)
    assert len(empty) == 0 and len(empty.candidates) == 0
