"""The text of a fit: offsets past 32 bits."""

from typing import Any

import numpy as np
import pytest

from ubpe_numba import BPE
from ubpe_numba.documents import read


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
