"""The text of a fit: offsets past 32 bits."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ubpe_numba import BPE
from ubpe_numba.documents import read
from ubpe_numba.fitting import text
from ubpe_numba.fitting.text import LocalText


def test_offsets_past_32_bits(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # a document of 4 GB before them would take its time
    monkeypatch.setattr(read, "check_cuts", lambda *_: None)
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


def test_a_busy_machine_gets_fewer_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half as many whenever this thread gets less than its processor, and all again once it has been calm for a while."""
    clock, at_once, held = [0.0, 0.0], [], LocalText.__new__(LocalText)
    held.shards = held.weighted = held.borders = None  # type: ignore[assignment]
    held.at_once, held.passed, held.worked, held.calm = 8, 0.0, 0.0, 0

    def run_rounds(*args: Any) -> int:
        at_once.append(args[-1])
        clock[:] = clock[0] + 0.3, clock[1] + (0.1 if len(at_once) < 5 else 0.3)
        return 0

    monkeypatch.setattr(
        text, "time", SimpleNamespace(perf_counter=lambda: clock[0], thread_time=lambda: clock[1])
    )
    monkeypatch.setattr(text, "run_rounds", run_rounds)
    for i in range(18):
        held.rounds(SimpleNamespace(state={"visited": [i]}), None, None, None, 8)  # type: ignore[arg-type]
    assert at_once == [8, 8, 4, 2] + [1] * 12 + [8, 8]
