"""Small corpora and rules for the fuzzing of fits, and what the plain references learn from them; runs under PyPy too.

Documents are random, periodic, of one symbol, runs, copies of few sequences, or empty, over alphabets of 1 to
300 symbols, so that pairs overlap and counts are often equal; with weights, with boundaries, with both or
neither.
"""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

from reference import decode, fit, trim

Docs = list[list[int]]
TIES = ["smallest", "first_seen", "fewest_documents"]
TRIMS = ["closed", "one_level", "published_0_2", "published_0_3"]


class Problem(NamedTuple):
    """Documents with what may go with them, a class by its name, and the arguments of its fit and of its rules."""

    docs: Docs
    size: int
    weights: list[int] | None
    boundaries: list[list[int]] | None
    cls: str
    n_tokens: int | None
    n_candidates: int
    longest: int | None
    ties: str
    min_count: int
    overshoot: bool
    order: str
    trim: str


class Learned(NamedTuple):
    """The merges in order of creation, the corpus after them, its tokens after each, and the table by idf, None if it dangles."""

    merges: list[tuple[int, int, int, int]]
    corpus: Docs
    lengths: list[int]
    weights: list[float]
    table: list[tuple[tuple[int, ...], float]] | None


def make(seed: int) -> Problem:
    """The problem of a seed: the same on every machine and in every interpreter."""
    rng = Random(seed)
    size = rng.choice([1, 2, 2, 3, 3, 7, 300])
    longest = rng.choice([4, 12, 30, 30, 80, 150])
    docs = [
        _document(rng, size, rng.randrange(longest + 1)) for _ in range(rng.choice([0, 1, 1, 2, 3, 5, 8]))
    ]
    docs += docs[: rng.choice([0, 0, 1, 3])]
    cls = rng.choice(["BPE", "UBPEClassic", "UBPE"])
    weights = [rng.choice([0, 1, 2, 5, 2**40]) for _ in docs] if rng.random() < 0.35 else None
    boundaries = [[rng.randrange(len(doc) + 1) for _ in range(rng.choice([0, 0, 1, 4]))] for doc in docs]
    more = rng.choice([0, 1, 2, 5, 10, 30])
    order = "idf" if rng.random() < 0.2 else "creation"  # which cuts only what overshoots
    return Problem(
        docs,
        size,
        weights,
        boundaries if rng.random() < 0.35 else None,
        cls,
        None if rng.random() < 0.05 else size + more,
        1 if cls == "BPE" else rng.choice([1, 2, 3, 5, 50]),
        rng.choice([None, None, None, 1, 2, 3, 4, 7]),
        rng.choice(TIES),
        rng.choice([1, 2, 2, 3]),
        rng.random() < (0.7 if order == "idf" else 0.15),
        order,
        rng.choice(TRIMS),
    )


def _document(rng: Random, size: int, n: int) -> list[int]:
    """Random, periodic, of one symbol, runs, or few sequences again and again."""
    kind = rng.randrange(5)
    if kind == 0:
        return [rng.randrange(size) for _ in range(n)]
    if kind == 1:
        period = [rng.randrange(size) for _ in range(rng.randrange(1, 6))]
        return (period * n)[:n]
    if kind == 2:
        return [rng.randrange(size)] * n
    out: list[int] = []
    if kind == 3:
        while len(out) < n:
            out += [rng.randrange(size)] * rng.choice([1, 1, 2, 3, 8, 20])
    else:
        few = [[rng.randrange(size) for _ in range(rng.choice([2, 3, 5]))] for _ in range(3)]
        while len(out) < n:
            out += rng.choice(few)
    return out[:n]


def learn(problem: Problem) -> Learned:
    """What a fit has to find."""
    p = problem
    n_tokens = 2**31 - 1 if p.n_tokens is None else p.n_tokens
    found, corpus = fit.fit(
        p.docs, p.size, n_tokens, p.n_candidates, p.ties, p.min_count, p.overshoot and p.n_tokens is not None,
        p.weights, p.boundaries, p.longest,
    )  # fmt: skip
    merges = [tuple(merge) for merge in found]
    pairs = [merge[:2] for merge in merges]
    n_documents = len(p.docs) if p.weights is None else sum(p.weights)
    weights = [fit.idf(n_documents, documents) for _, _, _, documents in merges]
    lengths = fit.corpus_lengths(p.docs, pairs, p.size, p.weights, p.boundaries)
    flat = decode.expand(pairs, p.size)
    table: list[tuple[tuple[int, ...], float]] | None = list(zip(flat[p.size :], weights))  # noqa: B905 (Python 3.9 has no `strict`)
    if p.order == "idf" and p.cls == "UBPE":
        table = trim.rearrange(flat[p.size :], weights, p.size, n_tokens, "closed")
    elif p.order == "idf":
        # in the same order, and tell which tokens stay
        numbered = [(weight, i) for i, weight in enumerate(weights)]
        stay = [i for _, (_, i) in trim.rearrange(pairs, numbered, p.size, n_tokens, p.trim)]
        known = {*range(p.size), *(p.size + i for i in stay)}
        closed = all(part in known for i in stay for part in pairs[i])
        table = [(flat[p.size + i], weights[i]) for i in stay] if closed else None
    return Learned(merges, corpus, lengths, weights, table)


def answer(seed: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The problem of a seed, and what has to be learned, as plain tuples."""
    problem = make(seed)
    return tuple(problem), tuple(learn(problem))
