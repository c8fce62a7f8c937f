"""Vocabularies of tokens that match within a tolerance, the cheapest paths over them, and what ids decode to.

Samples are integers here, `FINE` to a level; kernels/match.py says what tokens are and when one matches.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.runtime.arrays import offsets_of, places_of, writable
from ubpe_numba.runtime.lazy import cached_property
from ubpe_numba.signals.kernels import match, paths
from ubpe_numba.signals.kernels.match import FINE

#: A token: whether it is relative, and its symbols.
Token = tuple[int, NDArray[np.int32]]
#: The cost of a token where all cost the same.
UNIT = 1 << 32
#: Values that samples and symbols are below, so that kernels may subtract two of them.
MOST = 1 << 29


class Tokens:
    """Tokens 0..V-1: token t is ``arena[starts[t]:starts[t + 1]]``, levels (kinds[t] 0) or differences (1), all different.

    >>> tokens = Tokens([0, 1], np.array([0, 1, 3]), np.array([64, 30, 0], np.int32))
    >>> len(tokens), tokens.longest
    (2, 2)
    """

    kinds: NDArray[np.uint8]
    starts: NDArray[np.int64]
    arena: NDArray[np.int32]

    def __init__(self, kinds: Any, starts: NDArray[np.int64], arena: NDArray[np.int32]) -> None:
        self.kinds, self.starts, self.arena = np.array(kinds, np.uint8), starts, arena
        self.lengths: NDArray[np.int64] = np.diff(starts)

    @classmethod
    def of(cls, tokens: Iterable[Token]) -> Tokens:
        """Tokens in their order; of equal ones the first."""
        found = list({(kind, symbols.tobytes()): (kind, symbols) for kind, symbols in tokens}.values())
        starts = offsets_of(np.array([symbols.size for _, symbols in found], np.int64))
        return cls([kind for kind, _ in found], starts, np.concatenate([symbols for _, symbols in found], dtype=np.int32))

    def __len__(self) -> int:
        return self.kinds.size

    def __getitem__(self, t: int) -> Token:
        return int(self.kinds[t]), self.arena[self.starts[t] : self.starts[t + 1]]

    def __iter__(self) -> Any:
        return map(self.__getitem__, range(len(self)))

    @property
    def longest(self) -> int:
        """Samples of the longest token."""
        return int(self.lengths.max(initial=1))

    @cached_property
    def groups(self) -> tuple[NDArray[Any], ...]:
        """The tables of kernels/match.py."""
        firsts, least = self.arena[self.starts[:-1]], 1 << np.floor(np.log2(self.lengths)).astype(np.int64)
        order = np.lexsort((firsts, least, self.kinds)).astype(np.int64)
        least = least[order]
        places = np.arange(8)[:, None] * (least - 1) // 7
        signs = self.arena[self.starts[order] + places]
        edges = np.flatnonzero(np.diff(self.kinds[order].astype(np.int64) * (1 << 40) + least, prepend=-1))
        groups = np.zeros(edges.size, match.GROUP)
        groups["root"], groups["begin"], groups["end"] = self.kinds[order[edges]], edges, [*edges[1:], len(self)]
        groups["least"] = least[edges]
        for k in range(1, 8):
            groups[f"place{k}"] = places[k, edges]
        return self.arena, self.starts, groups, order, np.ascontiguousarray(signs)

    def tables(self, cost: NDArray[np.int64]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Tables and scratch of the kernels, of one thread."""
        n = len(self)
        return (self.groups, cost), (np.empty(n, np.int8), np.empty(n, np.int64), np.empty(n, match.MATCH))


class Goal(NamedTuple):
    """How far samples may be from what is decoded, in levels, and the price of the square of an error, in values."""

    tolerance: int
    price: int

    @classmethod
    def of(cls, tolerance: int) -> Goal:
        """A thousand samples whose error is the tolerance cost one token."""
        return cls(tolerance, max(1, round(1e-3 * UNIT / (max(tolerance, 0.5) * FINE) ** 2)))


class Found(NamedTuple):
    """Paths through documents: their parts, and of every state the cheapest way there."""

    parts: NDArray[Any]
    costs: NDArray[np.int64]
    back: NDArray[Any]


def cheapest(
    tokens: Tokens, cost: NDArray[np.int64], goal: Goal, x: NDArray[np.int32], offsets: NDArray[np.int64], known: int = -1
) -> Found:
    """The cheapest paths of documents; `known`: the column of the sample before the only one, which goes on from that."""
    size, columns = int(offsets[-1] - offsets[0]), 2 * goal.tolerance + 1
    costs, back = np.empty((size + offsets.size - 1, columns), np.int64), np.empty((size + offsets.size - 1, columns), paths.BACK)
    tables, scratch = tokens.tables(cost)
    path, room = np.empty(size, paths.PART), np.empty(costs.shape[0], np.int64)
    before = np.full(offsets.size - 1, known, np.int64)
    first = paths.ahead(writable(x), offsets, before, tables, goal.tolerance, goal.price, costs, room, back, scratch, path)
    return Found(path[first:].copy(), costs, back)


def decoded(tokens: Tokens, ids: NDArray[Any], first: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Decode tokens of documents that begin at the indices `first` of the ids: samples, bases of the tokens, -1 or what is wrong.

    That is the index of a relative token that begins a document, before which nothing was decoded; its base is 0.

    >>> tokens = Tokens([0, 1], np.array([0, 1, 3]), np.array([64, 30, 0], np.int32))
    >>> decoded(tokens, np.array([0, 1, 1]), np.array([0]))
    (array([64, 94, 64, 94, 64]), array([ 0, 64, 64]), -1)
    """
    if not ids.size:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), -1
    relative = tokens.kinds[ids] == 1
    ends = tokens.arena[tokens.starts[1:] - 1].astype(np.int64)[ids]
    begins = ~relative
    begins[first[first < ids.size]] = True
    sums = np.cumsum(np.where(begins, 0, ends))  # of the differences since the last token that begins anew
    last = np.maximum.accumulate(np.where(begins, np.arange(ids.size), 0))
    after = ends[last] + sums - sums[last]
    bases = np.where(begins, 0, np.concatenate([[0], after[:-1]]))
    lengths = tokens.lengths[ids]
    wrong = np.flatnonzero(begins & relative)
    samples = tokens.arena[places_of(tokens.starts[ids], lengths)] + np.repeat(bases, lengths)
    return samples, bases, int(wrong[0]) if wrong.size else -1
