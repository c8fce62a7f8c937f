"""Rows of `compare.py` about segmentations of our own: refined vocabularies, and one document on several threads."""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np
from harness import NONE, Bench
from suite import common
from suite.common import Corpus

import ubpe_numba


def deltas(corpus: Corpus) -> Corpus:
    """Differences of neighbouring samples, the first of each document 0, renumbered."""
    steps = np.diff(corpus.values.astype(np.int64), prepend=0)
    steps[corpus.offsets[:-1]] = 0
    distinct, values = np.unique(steps, return_inverse=True)
    return corpus._replace(values=values.astype(np.int32), alphabet_size=distinct.size)


def refine(b: Bench) -> None:
    """A vocabulary refined on every other document against rank-encoded BPE fitted on the same, on the documents between."""
    for name, fewer in (("ecg", 0.06), ("wav", 0.03), ("dna", 0.08), ("text", 0.06)):
        corpus = deltas(b.corpus(name)) if name == "ecg" else b.corpus(name)
        corpus = corpus.head(500_000) if b.quick else corpus
        docs = ubpe_numba.Ragged(corpus.values.astype(np.int32), corpus.offsets)
        seen, unseen = docs[::2], docs[1::2]
        shared: dict[str, Any] = {"alphabet": corpus.alphabet_size, "n_threads": common.THREADS[-1]}
        ranked = ubpe_numba.BPE(4096, **shared).fit(seen, progress=False)
        flat = ubpe_numba.UBPE(4096, objective="shortest", **shared).fit(seen, progress=False)
        began = time.perf_counter()
        refined = flat.refine(seen, progress=False)
        seconds = time.perf_counter() - began
        ours, theirs = (1000 * tok.encode_batch(unseen).total / unseen.total for tok in (refined, ranked))
        cells = (f"{ours:.1f} in {seconds:.1f} s ({len(refined.vocabulary)})", f"BPE: {theirs:.1f} ({len(ranked.vocabulary)})")
        what = f"tokens per 1000 unseen symbols (vocabulary), UBPE refined at 4096, {name}{' (deltas)' * (name == 'ecg')}"
        b.row(what, *cells, theirs / ours, 1 / (1 - fewer), NONE)


def blocks(b: Bench) -> None:
    """One document, encoded by rank on all processors against one thread."""
    text, source = common.text()
    symbols = np.frombuffer(text, np.uint8)[: 1_000_000 if b.quick else 4_000_000]
    tokenizer = ubpe_numba.BPE(4096, n_threads=1).fit(text, progress=False)
    seconds: dict[int, list[float]] = {1: [], common.THREADS[-1]: []}
    for _ in range(11):
        for n_threads, taken in seconds.items():
            tokenizer.set_params(n_threads=n_threads)
            began = time.perf_counter()
            tokenizer.encode(symbols)
            taken.append(time.perf_counter() - began)
    one, many = (statistics.median(taken) for taken in seconds.values())
    what = f"rank encode, one document of {symbols.size / 1e6:g} MB, {common.THREADS[-1]} threads, {source}"
    b.row(what, *(f"{symbols.size / s / 1e6:.3g} MB/s" for s in (many, one)), one / many, 1.5, NONE)
