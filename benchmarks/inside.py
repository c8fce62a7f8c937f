"""Tokenizers inside compiled functions: `Tokenizer.kernels` in a user's loop, beside the library over all documents at once.

python benchmarks/inside.py    microseconds a document of 20 and of 5,000 symbols, medians of rounds in which
all sides take turns

`calls`: a Python loop over `encode`; `batch`: `encode_batch` on one thread; `loop`: `encode_into` in a
compiled loop. Also what it takes to pass `Kernels` and a `Ragged` to a compiled function, and to compile one.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from ubpe_numba import UBPE, Ragged


@njit(nogil=True)
def loop(k: Any, docs: Any, out: Any) -> int:
    """The ids of all documents."""
    n = 0
    for i in range(len(docs)):
        n += k.encode_into(docs[i], out)
    return n


@njit(nogil=True)
def passed(value: Any) -> int:
    """Nothing."""
    return 0


def medians(sides: dict[str, Callable[[], object]], rounds: int = 15) -> dict[str, float]:
    """Seconds of each side."""
    took: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            began = time.perf_counter()
            side()
            took[name].append(time.perf_counter() - began)
    return {name: statistics.median(times) for name, times in took.items()}


def main() -> None:
    """Print the rows."""
    rng = np.random.default_rng(0)
    walk = rng.integers(-2, 3, 1_000_000).cumsum() % 64
    fitted = UBPE(4096, 50, n_threads=1).fit(np.array_split(walk[:200_000], 100), progress=False)
    print(
        "| symbols | objective | calls | batch | loop | loop / batch |\n| --- | --- | --- | --- | --- | --- |"
    )
    for size, n in (20, 2000), (5000, 40):
        docs = Ragged(walk[: n * size].astype(np.int32), np.arange(0, n * size + 1, size))
        rows, out = [np.array(doc) for doc in docs], np.empty(size, np.int32)
        for objective in ("rank", "shortest", "tfidf"):
            tok: Any = fitted.with_objective(objective)
            k = tok.kernels
            assert loop(k, docs, out) == tok.encode_batch(docs).total
            sides = {
                "calls": lambda tok=tok, rows=rows: [tok.encode(doc) for doc in rows],
                "batch": lambda tok=tok, docs=docs: tok.encode_batch(docs),
                "loop": lambda k=k, docs=docs, out=out: loop(k, docs, out),
            }
            found = {name: seconds / n * 1e6 for name, seconds in medians(sides).items()}
            print(
                f"| {size} | {objective} |",
                *(f"{found[side]:.2f} |" for side in sides),
                f"{found['loop'] / found['batch']:.2f} |",
            )
    array = np.zeros(3)
    sides = {"an array": array, "Kernels": fitted.kernels, "a Ragged": docs}
    calls = {
        name: lambda value=value: [passed(value) for _ in range(10_000)] for name, value in sides.items()
    }
    [passed(value) for value in sides.values()]
    print(*(f"to pass {name}: {seconds * 1e2:.2f} us" for name, seconds in medians(calls).items()), sep="\n")
    began = time.process_time()
    njit(lambda k, doc: k.count(doc))(fitted.kernels, walk)
    print(f"to compile a function: {time.process_time() - began:.2f} s of CPU")


if __name__ == "__main__":
    main()
