"""Batches on several threads are what documents are one by one."""

from __future__ import annotations

import numpy as np
import pytest

from ubpe_numba import BPE, UBPE, FitRules, Ragged, UBPEClassic


@pytest.mark.parametrize("n_threads", [1, 2, 3, 8])
def test_threads_change_nothing(n_threads: int) -> None:
    """Batches past the size where threads begin."""
    rng = np.random.default_rng(5)
    docs = np.split(rng.integers(0, 30, 400_000).astype(np.int32), np.sort(rng.integers(0, 400_000, 700)))
    for tok in (BPE(200), UBPE(200, 20), UBPEClassic(200, 20, rules=FitRules(encode="batch"))):
        tok.fit(docs[:50], progress=False).set_params(n_threads=n_threads)
        batch = tok.encode_batch(docs)
        assert batch == Ragged.from_lists([tok.encode(d) for d in docs])
        assert tok.decode_batch(batch) == Ragged.from_lists(docs)
