"""Rows of `compare.py`: how far the best path that is found is from the true best, and how many tokens each encoding gives."""

from __future__ import annotations

import numpy as np
from harness import NONE, Bench

from ubpe_numba import UBPE, Ragged, UBPEClassic, bounds
from ubpe_numba.types import NBest

N_TOKENS = 4096
OBJECTIVES = ("tfidf", "shortest")  # of UBPE
# symbols of the documents whose true best is computed, and of those with a bound on it
SHORT, LONG = 60, 3600
_SEED = 20_240_504


def honesty(b: Bench) -> None:
    """Tokenizers are fitted on nine tenths of the documents and measured on the rest."""
    for name in ("ecg", "wav", "dna", "text"):
        corpus = b.corpus(name)
        if b.quick:
            corpus = corpus.head(500_000)
        documents = Ragged(corpus.values.astype(np.int32), np.asarray(corpus.offsets, np.int64))
        held = documents[len(documents) * 9 // 10 :]
        options = {"alphabet": corpus.alphabet_size, "n_threads": 1}
        ubpe = UBPE(N_TOKENS, **options).fit(documents[: len(documents) * 9 // 10], progress=False)
        _short(b, name, ubpe, _pieces(held, SHORT, 50 if b.quick else 200))
        _long(b, name, ubpe, _pieces(held, LONG, 3 if b.quick else 10))
        classic = UBPEClassic(N_TOKENS, **options).fit(documents[: len(documents) * 9 // 10], progress=False)
        tokens = {"rank": classic.encode_batch(held).total}
        for objective in OBJECTIVES:
            tokens[objective] = ubpe.set_params(objective=objective).encode_batch(held).total
        per_1000 = {way: 1000 * n / held.total for way, n in tokens.items()}
        best = min(tokens, key=lambda way: tokens[way])
        cells = ", ".join(f"{way} {n:.0f}" for way, n in per_1000.items() if way != "rank")
        what = f"tokens per 1000 held-out symbols, {N_TOKENS} tokens, {name}: fewest ({best}) over rank"
        b.row(what, cells, f"rank {per_1000['rank']:.0f}", tokens[best] / tokens["rank"], NONE, NONE, "")


def _short(b: Bench, name: str, tokenizer: UBPE, documents: Ragged) -> None:
    best = bounds.encode_nbest(tokenizer, documents, 1, exact=True)[0].weights
    found = {
        "top-1": tokenizer.encode_nbest(documents, 1),
        "beam of 16": tokenizer.encode_nbest(documents, 1, beam=16),
        "guided beam of 16": bounds.encode_nbest(tokenizer, documents, 1, guided=True)[0],
    }
    below = {way: _below(these, best) for way, these in found.items()}
    cells = [
        f"{way}: {np.count_nonzero(far)} of {len(documents)}, mean {100 * far.mean():.2f} %"
        for way, far in below.items()
    ]
    what = f"share of documents of {SHORT} symbols below the true best, {name}"
    b.row(
        what,
        cells[0],
        ", ".join(cells[1:]),
        100 * np.count_nonzero(below["top-1"]) / len(documents),
        NONE,
        NONE,
        "%",
    )


def _long(b: Bench, name: str, tokenizer: UBPE, documents: Ragged) -> None:
    guided, gaps = bounds.encode_nbest(tokenizer, documents, 1, guided=True)
    bound = guided.weights + gaps
    found = {
        "top-1": tokenizer.encode_nbest(documents, 1),
        "beam of 64": tokenizer.encode_nbest(documents, 1, beam=64, distinct="bag"),
        "guided beam of 16": guided,
    }
    far = {way: 100 * _below(these, bound).mean() for way, these in found.items()}
    cells = [f"{way}: {percent:.2f} %" for way, percent in far.items()]
    what = f"certified gap at {LONG} symbols, {name}: guided over top-1"
    b.row(what, cells[0], ", ".join(cells[1:]), far["guided beam of 16"] / far["top-1"], NONE, NONE, "")


def _below(found: NBest, best: np.ndarray) -> np.ndarray:
    """How far weights are below the best, as a part of the best; 0 for documents whose best weight is 0."""
    return np.where(best > 0, 1 - found.weights / np.where(best > 0, best, 1), 0)


def _pieces(documents: Ragged, length: int, n: int) -> Ragged:
    """`n` pieces of the joined documents, at random places (seeded)."""
    values = documents.compact().values
    starts = np.random.default_rng(_SEED).integers(0, values.size - length, n)
    at = starts[:, None] + np.arange(length)
    return Ragged(values[at].ravel(), np.arange(0, n * length + 1, length))
