"""The text of a fit: where it is cut into shards, and offsets past 32 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ubpe_numba import BPE
from ubpe_numba.documents import read
from ubpe_numba.fitting import text


def test_offsets_past_32_bits(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "check_cuts", lambda *_: None)  # a document of 4 GB before them would take its time
    path = tmp_path / "sparse"
    with open(path, "wb") as f:
        f.truncate(2**33)
        f.seek(2**32 + 5)
        f.write(bytes([1, 2, 1, 2, 3]))
    docs = np.memmap(path, np.uint8, "r")
    offsets = np.array([2**32 + 4, 2**32 + 6, 2**32 + 10])
    tok = BPE(12, alphabet=4).fit(docs, offsets=offsets, progress=False)
    assert tok._model.vocabulary.counts[4:].max(initial=0) <= 1
    tok = BPE(5, alphabet=4).fit(docs, offsets=offsets[[0, 2]], progress=False)
    assert tok._model.vocabulary.merges.tolist() == [[1, 2]]
    assert [d.tolist() for d in tok.decode_batch(tok.encode_batch(docs, offsets))] == [[0, 1], [2, 1, 2, 3]]


def test_cuts_lie_between_documents_where_they_are_near() -> None:
    offsets = np.array([0, 100, 195, 200, 300, 1000])
    assert text.cut(offsets, 5).at.tolist() == [0, 200, 400, 600, 800, 1000]
    assert text.cut(offsets, 5).inside.tolist() == [False, False, True, True, True, False]
    assert text.cut(offsets, 1).at.tolist() == [0, 1000]
    assert text.cut(np.array([7]), 4).at.tolist() == [7, 7]
    assert text.cut(np.array([5, 5, 5]), 3).segment.tolist() == [0, 2]
    many = text.cut(np.arange(0, 2**40, 2**30), 64)  # offsets past 2**31
    assert many.at[-1] == 2**40 - 2**30
    assert np.all(np.diff(many.at) > 2**33)
