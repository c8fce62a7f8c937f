"""What masks of followers exclude, and what they take: shares of pairs, random sequences that come back, time and memory.

A tokenizer is fitted on the first two million symbols of a corpus. `% by use` weighs pairs by how often their
ids occur. Of 300 random sequences of 40 ids, along the mask and of any ids that occur, those come back that
`encode` gives for what they decode to. The last row has 200,000 ids: 64 rows of the mask, and the peak of
memory.

UBPE_BENCH_SLOW=1 UBPE_BENCH_DATA=data python benchmarks/masks.py takes half a minute.
"""

from __future__ import annotations

import time
import tracemalloc

import numpy as np
from suite import common

from ubpe_numba import BPE, FitRules


def sequence(rng: np.random.Generator, mask: np.ndarray, first: np.ndarray) -> list[int]:
    """40 random ids along a mask, fewer where it ends."""
    ids: list[int] = []
    allowed = first
    while len(ids) < 40 and allowed.any():
        ids.append(int(rng.choice(np.flatnonzero(allowed))))
        allowed = mask[ids[-1]]
    return ids


def row(name: str, size: int) -> str:
    """A row of the table."""
    corpus = common.load(name).head(2_000_000)
    documents = corpus.values.astype(np.int32)
    tok = BPE(size, alphabet=corpus.alphabet_size).fit(documents, offsets=corpus.offsets, progress=False)
    tok.followers(0)  # which compiles
    started = time.perf_counter()
    mask, first = tok.followers(np.arange(size)), tok.followers()
    milliseconds = 1000 * (time.perf_counter() - started)
    counts = tok.usage(documents, corpus.offsets).counts
    shares, rng = counts / counts.sum(), np.random.default_rng(0)
    back = []
    for allowed, begin in ((mask, first), (np.ones_like(mask) & (counts > 0), counts > 0)):
        drawn = [sequence(rng, allowed, begin) for _ in range(300)]
        back.append(sum(tok.encode(tok.decode(ids)).tolist() == ids for ids in drawn))
    excluded = f"{100 * (1 - mask.mean()):.1f} | {100 * (1 - shares @ mask @ shares):.1f}"
    ends = int((~mask.any(axis=1)).sum())
    return f"| {name} | {size} | {excluded} | {ends} | {back[0]} | {back[1]} | {milliseconds:.0f} ms |"


def large() -> str:
    """Milliseconds and memory of 64 rows of 200,000 ids."""
    corpus = common.load(common.CORPORA[-1])
    tok = BPE(200_000, alphabet=256, rules=FitRules(min_count=1))
    tok.fit(corpus.values.astype(np.int32), offsets=corpus.offsets, progress=False)
    tok.encode(corpus.values[:100].astype(np.int32))
    tracemalloc.start()
    times = [time.perf_counter()]
    for ids in (None, np.arange(1000, 1064)):
        tok.followers(ids)
        times.append(time.perf_counter())
    first, rows = 1000 * np.diff(times)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    return f"{tok.vocab_size} ids: tables {first:.0f} ms, 64 rows {rows:.0f} ms, peak {peak:.0f} MB"


def main() -> None:
    """Print the table."""
    print("| corpus | ids | % of pairs | % by use | dead ends | come back | without | all rows |")
    print("|---|---|---|---|---|---|---|---|")
    for name in common.CORPORA:
        for size in (512, 1024, 4096):
            print(row(name, size), flush=True)
    print(large())


if __name__ == "__main__":
    main()
