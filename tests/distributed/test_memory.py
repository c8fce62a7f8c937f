"""Dask knows the true sizes of the library's objects, and they come back from disk and from other processes."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("dask")

from dask.sizeof import sizeof

import ubpe_numba.distributed  # noqa: F401  # which registers the sizes
from ubpe_numba import BPE, Counts, Ragged, count_documents
from ubpe_numba.documents.read import Documents

N = 50_000
RAGGED = Ragged(np.arange(N, dtype=np.int32), np.arange(0, N + 1, 10))
COUNTS = count_documents(RAGGED)


@pytest.mark.parametrize("made", [RAGGED, RAGGED[100:], COUNTS, COUNTS.flat, count_documents(["né", "né", "x" * 5000])], ids=str)
def test_sizes_are_near_those_of_pickles(made: Any) -> None:
    assert len(pickle.dumps(made, 5)) / 1.2 < sizeof(made) < len(pickle.dumps(made, 5)) * 1.2


def test_an_unpickled_copy_has_no_copied_buffers() -> None:
    for made, n in ((RAGGED, 2), (COUNTS, 3)):
        buffers: list[pickle.PickleBuffer] = []
        data = pickle.dumps(made, 5, buffer_callback=buffers.append)
        assert len(buffers) == n and len(data) < 1000
        frozen = [bytes(buffer) for buffer in buffers]  # what comes from disk is read-only
        back = pickle.loads(data, buffers=frozen)
        assert back == made
        assert count_documents(made.documents) == made if isinstance(made, Counts) else True
        merged = Counts.merge(back) if isinstance(back, Counts) else count_documents(back)
        assert merged == COUNTS
        tok = BPE(N + 10, alphabet=N).fit(back, progress=False)
        assert tok.fingerprint == BPE(N + 10, alphabet=N).fit(made, progress=False).fingerprint


def test_they_spill_and_come_back(tmp_path: Path) -> None:
    """The same buffer that a worker keeps its results in, with a limit below their size."""
    from distributed.spill import SpillBuffer

    buffer = SpillBuffer(str(tmp_path), target=300_000)
    for key, made in (("ragged", RAGGED), ("counts", COUNTS), ("documents", COUNTS.flat), ("again", RAGGED)):
        buffer[key] = made
    assert {"ragged", "counts"} & set(buffer.slow)
    assert buffer["ragged"] == RAGGED
    assert buffer["counts"] == COUNTS
    assert isinstance(buffer["documents"], Documents)
    assert Counts.merge(buffer["counts"], COUNTS).weights.tolist() == [2] * len(COUNTS)
