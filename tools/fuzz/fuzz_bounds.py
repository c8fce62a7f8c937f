"""Fuzzing of the lower bound: small random problems, against all vocabularies, and against the linear programme by HiGHS.

Stops at the first bound that is above what a vocabulary reaches, above the programme's value, or far below
it, and prints what reproduces it.

    python tools/fuzz/fuzz_bounds.py --problems 1000 --seed 1
"""

from __future__ import annotations

import argparse
import itertools
import math
import pathlib
import sys
from random import Random
from typing import NamedTuple

import numpy as np

if __name__ == "__main__":
    sys.path[:0] = [str(pathlib.Path(__file__).parents[2] / name) for name in ("tools", "tests", "")]

from reference import units as reference

from ubpe_numba import Ragged
from ubpe_numba.bounds.fewest_tokens import bound_of_units, distinct_segments
from ubpe_numba.runtime.messages import Progress

_VOCABULARIES = 4000  # that are tried at most


class Problem(NamedTuple):
    """Documents with weights, and which vocabularies the bound is about."""

    size: int
    docs: list[list[int]]
    weights: list[int]
    n: int
    longest: int | None
    min_count: int


def make(seed: int) -> Problem:
    """The problem of a seed: the same on every machine."""
    rng = Random(seed)
    size = rng.choice([1, 2, 2, 3, 5])
    period = [rng.randrange(size) for _ in range(rng.choice([1, 2, 3]))]
    docs = []
    for _ in range(rng.choice([1, 2, 3, 5])):
        length = rng.choice([0, 1, 2, 3, 5, 8, 11])
        docs.append(
            (period * length)[:length]
            if rng.random() < 0.25
            else [rng.randrange(size) for _ in range(length)]
        )
    heavy = rng.random() < 0.1
    weights = [rng.choice([1, 2**40, 2**40 + 1]) if heavy else rng.choice([1, 1, 1, 2, 3, 7]) for _ in docs]
    return Problem(size, docs, weights, rng.choice([0, 1, 1, 2, 2, 3, 5, 100]), rng.choice([None, None, 1, 2, 3, 4, 6]),
                   rng.choice([1, 1, 1, 2, 3]))  # fmt: skip


def check(problem: Problem) -> str | None:
    """What is wrong with the bound of a problem; None if nothing is."""
    size, docs, weights, n, longest, min_count = problem
    units, total = distinct_segments(Ragged.from_lists(docs), np.array(weights, np.int64))
    plain = list(zip(units.to_lists(), total.tolist(), strict=True))
    most = max([longest or 0] if longest else map(len, docs))
    found = bound_of_units(units, total, size, n, longest, min_count, None, None, 1, Progress(False))
    at_once = bound_of_units(units, total, size, n, longest, min_count, 0, None, 1, Progress(False))
    if not plain:
        return None if found.tokens == 0 else f"no symbols: {found}"
    known = len(reference.weighed_candidates(plain, most, min_count))
    if math.comb(known, min(n, known)) <= _VOCABULARIES:
        least = reference.fewest_of_all(plain, n, most, min_count)
        if found.tokens > least or at_once.tokens > least:
            return f"{least} tokens do: {found}, at once {at_once}"
    value = _linear_programme(plain, n, most, min_count)
    if found.tokens > math.ceil(value * (1 + 1e-7) + 1e-6):
        return f"above the programme's {value}: {found}"
    if found.tokens < math.floor(value * (1 - 0.01)) - 1 or not found.converged:
        return f"far below the programme's {value}: {found}"
    return None


def _linear_programme(units: reference.Weighed, n: int, longest: int, min_count: int) -> float:
    """The same with tokens that belong to the vocabulary in part, and paths that are taken in part: scipy's HiGHS.

    Variables: the flow of every edge, symbols included, and the part of every candidate. What flows into a
    node flows out of it, an edge carries no more than the part of its candidate, parts are at most 1 and at
    most n in all.

    >>> round(_linear_programme([([0, 1, 0, 1], 1), ([0, 1], 1)], 1, 2, 1), 6)
    3.0
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_matrix

    known = {token: t for t, token in enumerate(reference.weighed_candidates(units, longest, min_count))}
    edges = []  # weight, tail, head, candidate
    n_nodes, into = 0, {}
    for unit, weight in units:
        into[n_nodes] = 1.0
        for i, j in itertools.combinations(range(len(unit) + 1), 2):
            if j - i == 1 or tuple(unit[i:j]) in known:
                head = n_nodes + j if j < len(unit) else -1
                edges.append((weight, n_nodes + i, head, known.get(tuple(unit[i:j]), -1)))
        n_nodes += len(unit)
    size = len(edges)
    flow = [(tail, e, 1.0) for e, (_, tail, _, _) in enumerate(edges)]
    flow += [(head, e, -1.0) for e, (_, _, head, _) in enumerate(edges) if head >= 0]
    inner = [(e, t) for e, (_, _, _, t) in enumerate(edges) if t >= 0]
    most = [(row, e, 1.0) for row, (e, _) in enumerate(inner)] + [
        (row, size + t, -1.0) for row, (_, t) in enumerate(inner)
    ]
    most += [(len(inner), size + t, 1.0) for t in range(len(known))]
    most_weight = max(weight for _, weight in units)
    found = linprog(
        # large numbers are not for HiGHS
        [weight / most_weight for weight, _, _, _ in edges] + [0] * len(known),
        *(_matrix(most, len(inner) + 1, size + len(known), coo_matrix), [0] * len(inner) + [n]),
        *(_matrix(flow, n_nodes, size + len(known), coo_matrix), [into.get(v, 0.0) for v in range(n_nodes)]),
        bounds=[(0, None)] * size + [(0, 1)] * len(known),
        method="highs",
    )
    assert found.status == 0, found.message
    return float(found.fun) * most_weight


def _matrix(entries: list[tuple[int, int, float]], n_rows: int, n_columns: int, make: type) -> object:
    rows, columns, values = zip(*entries, strict=True) if entries else ((), (), ())
    return make((values, (rows, columns)), shape=(n_rows, n_columns)).tocsr()


def fuzz(n_problems: int, seed: int) -> int:
    """Check so many problems; AssertionError with what makes the first wrong one again."""
    for i in range(n_problems):
        wrong = check(make(seed * 1_000_003 + i))
        assert wrong is None, f"{wrong}\n{make(seed * 1_000_003 + i)}\nmake({seed * 1_000_003 + i})"
    return n_problems


def main() -> None:
    """Fuzz as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--problems", type=float, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    print(f"{fuzz(int(args.problems), args.seed)} problems without a difference")


if __name__ == "__main__":
    main()
