"""Rows of `compare.py`: periodic and random data, which should encode as fast as any other, from 10 k to 10 M symbols."""

from __future__ import annotations

from functools import partial

import numpy as np
from harness import NONE, Bench
from suite.common import rate

from ubpe_numba import UBPE, Ragged

SYMBOLS = 4


def de_bruijn(order: int) -> np.ndarray:
    """Every word of length `order` once: the Lyndon words in order, joined (H.

    Fredricksen and J. Maiorana, 1978).
    """
    word = np.zeros(order, np.int8)
    out = [word[:1].copy()]
    while True:
        last = order - 1
        while last >= 0 and word[last] == SYMBOLS - 1:
            last -= 1
        if last < 0:
            return np.concatenate(out).astype(np.int32)
        word[last] += 1
        word = np.resize(word[: last + 1], order)
        if order % (last + 1) == 0:
            out.append(word[: last + 1].copy())


def kinds(n: int) -> dict[str, np.ndarray]:
    """Documents of `n` symbols."""
    rng = np.random.default_rng(0)
    return {
        "abab": np.tile(np.array([0, 1], np.int32), n // 2),
        "aaaa": np.zeros(n, np.int32),
        "de Bruijn": np.resize(de_bruijn(9), n),
        "random": rng.integers(0, SYMBOLS, n, np.int32),
    }


def shapes(b: Bench) -> None:
    """The slowest kind and size against the fastest, with a vocabulary of DNA, and with one fitted on the same kinds of data.

    The second has tokens of up to a thousand symbols, and in such documents sixteen of its tokens begin at
    every position.
    """
    dna = b.corpus("dna")
    own = Ragged.from_lists([part for kind in kinds(20_000).values() for part in np.array_split(kind, 20)])
    fitted = {
        "vocabulary of DNA": (Ragged(dna.values.astype(np.int32), dna.offsets), 4),
        "vocabulary of these data": (own, NONE),
    }
    sizes = (10_000, 100_000, 1_000_000) if b.quick else (10_000, 100_000, 1_000_000, 10_000_000)
    for name, (docs, goal) in fitted.items():
        tokenizer = UBPE(1024, alphabet=max(SYMBOLS, dna.alphabet_size), n_threads=1).fit(
            docs, progress=False
        )
        found = {}
        for n in sizes:
            for kind, document in kinds(n).items():
                found[f"{kind}, {n:,}"] = 1e9 / rate(n, partial(tokenizer.encode, document), 3)
        slow, fast = max(found, key=found.__getitem__), min(found, key=found.__getitem__)
        what = f"UBPE encode, {name}: abab, aaaa, de Bruijn and random data, {sizes[0]:,} to {sizes[-1]:,} symbols"
        cells = f"slowest {found[slow]:.0f} ns/symbol ({slow})", f"fastest {found[fast]:.0f} ({fast})"
        b.row(what, *cells, found[slow] / found[fast], goal, NONE, "")
