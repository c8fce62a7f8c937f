"""Batches on several threads are what documents are one by one, whatever is asked for."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from digests import digest

from ubpe_numba import BPE, UBPE, FitRules, UBPEClassic
from ubpe_numba.bounds import encode_nbest

RNG = np.random.default_rng(5)
#: Past the size where threads begin; one document is cut into blocks.
SMALL = np.split(RNG.integers(0, 30, 300_000).astype(np.int32), np.sort(RNG.integers(0, 300_000, 500)))
GIANT = np.concatenate(
    [RNG.integers(0, 4, 400_000), np.tile([0, 1], 150_000), np.zeros(200_000, int)]
).astype(np.int32)
DOCS = [*SMALL, GIANT[:100], GIANT, [], GIANT[:600_000][::-1], []]
RANK = BPE(200, alphabet=30)
CLASSIC = UBPEClassic(200, 20, alphabet=30, rules=FitRules(encode="batch"))
LIKELY = UBPE(100, 20, alphabet=30, objective="likelihood")
PATHS = UBPE(200, 20, alphabet=30)


def n_best(tok: Any, **options: Any) -> list[Any]:
    found = tok.encode_nbest(SMALL, 2, **options)
    assert len(found) == len(SMALL) and found.offsets[-1] == len(found.candidates) == found.weights.size
    return [found.candidates, found.offsets, found.weights]


def certified(tok: Any) -> list[Any]:
    found, gaps = encode_nbest(tok, SMALL, 2, beam=4, guided=True)
    return [found.candidates, found.offsets, found.weights, gaps]


def occurrences(tok: Any) -> list[Any]:
    ids = tok.encode_batch(SMALL)
    index, usage = tok.index(ids), tok.usage(ids=ids)
    return [index.counts, usage.counts, usage.document_frequencies, *index[0], *index[35], tok.count(DOCS)]


CASES: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "rank": (RANK, lambda tok: tok.encode_batch(DOCS)), "batch rule": (CLASSIC, lambda tok: tok.encode_batch(SMALL)),
    "tfidf": (PATHS, lambda tok: tok.encode_batch(SMALL)),
    "dropout": (RANK, lambda tok: tok.encode_batch(DOCS, sample=0.1, seed=7)),
    "sampled paths": (LIKELY, lambda tok: tok.encode_batch(SMALL, sample=0.1, seed=2**64 - 1)),
    "expected counts": (LIKELY, lambda tok: tok.reweight(SMALL).fingerprint), "n best": (PATHS, n_best),
    "n best bags": (PATHS, lambda tok: n_best(tok, distinct="bag")), "beam": (PATHS, lambda tok: n_best(tok, beam=4)),
    "certified": (PATHS, certified), "occurrences": (RANK, occurrences),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_threads_change_nothing(name: str) -> None:
    tok, call = CASES[name]
    tok.set_params(n_threads=1)
    if not hasattr(tok, "_model"):
        tok.fit([*SMALL[:50], GIANT[:20_000]], progress=False)
    want = digest(call(tok))
    for n_threads in (2, 5):
        assert digest(call(tok.set_params(n_threads=n_threads))) == want
