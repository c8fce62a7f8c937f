"""Vocabularies of tokens that match within a tolerance, the cheapest paths over them, and what ids decode to.

Samples are integers here, `FINE` to a level; kernels/match.py defines tokens and matches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.runtime.arrays import offsets_of, places_of, writable
from ubpe_numba.runtime.lazy import cached_property
from ubpe_numba.signals.kernels import paths
from ubpe_numba.signals.kernels.match import BITS, ENTRY, FINE, GROUP, INTERVALS, MOST_HALF, NONE, ROUND, SIDE

#: A token: whether it is relative, and its symbols.
Token = tuple[int, NDArray[np.int32]]
#: The cost of a token if all cost the same.
UNIT = 1 << 32
#: The highest cost of a token: sums over the longest tokens of a file stay far below what kernels take for no
#: path.
MOST_COST = 1 << 40
#: Samples of the longest token, for the same reason.
LONGEST = 1 << 17
#: Values that samples and symbols are below, so that kernels may subtract two of them.
MOST = 1 << 29


class Tokens:
    """Tokens 0..V-1, all different: token t is ``arena[starts[t]:starts[t + 1]]``.

    `kinds[t]` is 0 for levels, 1 for differences.

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
        distinct = list({(kind, symbols.tobytes()): (kind, symbols) for kind, symbols in tokens}.values())
        starts = offsets_of(np.array([symbols.size for _, symbols in distinct], np.int64))
        return cls(
            [kind for kind, _ in distinct],
            starts,
            np.concatenate([symbols for _, symbols in distinct], dtype=np.int32),
        )

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
    def grid(self) -> tuple[int, int]:
        """Levels that samples may be decoded to before a token: the first, and how many they are apart."""
        ends = self.arena[self.starts[1:] - 1].astype(np.int64) >> 6
        levels = ends[self.kinds == 0]
        first = int(levels[0]) if levels.size else 0
        return first, max(1, int(np.gcd.reduce(np.concatenate([levels - first, ends[self.kinds == 1]]))))

    @cached_property
    def index(self) -> tuple[Any, ...]:
        """The tables of `listed` in kernels/match.py, the entries without costs, and but the least cost."""
        least = 1 << np.floor(np.log2(self.lengths)).astype(np.int64)
        groups: list[NDArray[np.int64]] = []
        for kind in (0, 1):
            mine = np.zeros(0, np.int64)
            # long ones first, some at a time
            for m in sorted(set(least[self.kinds == kind].tolist()), reverse=True):
                mine = np.concatenate([mine, np.flatnonzero((self.kinds == kind) & (least == m))])
                if mine.size >= SIDE:
                    groups.append(mine)
                    mine = mine[:0]
            groups += [mine] if mine.size else []
        size = sum(mine.size + SIDE for mine in groups)
        most = int(np.abs(self.arena).max(initial=0)) + MOST_HALF  # samples are also below
        shift = max(0, most.bit_length() - BITS)
        table, signs = np.zeros(len(groups), GROUP), np.full((8, size), NONE, np.int16)
        entries, firsts = np.zeros(size, ENTRY), np.empty((len(groups), INTERVALS + 1), np.int32)
        ends = np.full((size, 2), MOST, np.int32)  # in addition to groups
        begin = 0
        for g, mine in enumerate(groups):
            end, m = begin + mine.size, int(least[mine].min())
            places = np.arange(8) * (m - 1) // 7
            symbols = self.arena[self.starts[mine] + places[:, None]].astype(np.int64)
            best = int(np.argmax(symbols.std(axis=1)))
            places[[0, best]] = places[[best, 0]]
            order = np.argsort(symbols[best], kind="stable")
            keys, mine = symbols[best, order], mine[order]
            signs[:, begin:end] = self.arena[self.starts[mine] + places[:, None]] >> shift
            width = max(0, int(keys[-1] - keys[0]).bit_length() - INTERVALS.bit_length() + 1)
            firsts[g] = begin + np.searchsorted((keys - keys[0]) >> width, np.arange(INTERVALS + 1))
            kind, n = int(self.kinds[mine[0]]), self.lengths[mine]
            bits = np.bitwise_or.reduce(np.int64(1) << np.where(n < 64, n, 0))
            table[g] = (kind, begin, end, m, n.max(), keys[0], width, bits, *places.tolist())
            entries["start"][begin:end], entries["token"][begin:end] = self.starts[mine], mine
            ends[begin:end, 0], ends[begin:end, 1] = n, self.arena[self.starts[mine + 1] - 1]
            begin = end + SIDE
        arena = np.concatenate([self.arena, np.zeros(ROUND, np.int32)])
        return arena, self.starts, entries, ends, table, *self.grid, firsts, shift, signs

    def tables(
        self, cost: NDArray[np.int64], grid: tuple[int, int] | None = None
    ) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Tables of the kernels, and the lists of a thread.

        `grid` is that of the tokens of the paths, if they are others.
        """
        arena, starts, entries, ends, groups, *mine, firsts, shift, signs = self.index
        entries = entries.copy()
        entries["cost"] = cost[entries["token"]]
        lists = np.empty(SIDE, np.int8), np.empty(entries.size + SIDE, np.int32)
        return (
            arena,
            starts,
            entries,
            ends,
            groups,
            *(grid or mine),
            firsts,
            shift,
            signs,
            int(cost.min()),
        ), lists


class Goal(NamedTuple):
    """The tolerance of samples, in levels, and the price of the square of an error, in values."""

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
    tokens: Tokens,
    cost: NDArray[np.int64],
    goal: Goal,
    x: NDArray[np.int32],
    offsets: NDArray[np.int64],
    known: int = -1,
) -> Found:
    """The cheapest paths of documents.

    `known` is the column of the sample before the only document, which continues from it.
    """
    size, columns = int(offsets[-1] - offsets[0]), 2 * goal.tolerance + 1
    costs, back = (
        np.empty((size + offsets.size - 1, columns), np.int64),
        np.empty((size + offsets.size - 1, columns), paths.BACK),
    )
    tables, lists = tokens.tables(cost)
    path, room = np.empty(size, paths.PART), np.empty(costs.shape[0], np.int64)
    before = np.full(offsets.size - 1, known, np.int64)
    first = paths.ahead(
        writable(x), offsets, before, tables, goal.tolerance, goal.price, costs, room, back, lists, path
    )
    return Found(path[first:].copy(), costs, back)


def decoded(
    tokens: Tokens,
    ids: NDArray[Any],
    first: NDArray[np.int64],
    known: Mapping[int, int] = MappingProxyType({}),
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Decode tokens of documents that begin at the indices `first` of the ids.

    That is the index of a relative token that begins a document, before which nothing was decoded; its base
    is 0. `known`: the value before some of these indices.

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
    # of the differences since the last token with an absolute level
    sums = np.cumsum(np.where(begins, 0, ends))
    last = np.maximum.accumulate(np.where(begins, np.arange(ids.size), 0))
    bases: NDArray[Any] = np.zeros(ids.size, np.int64)
    is_wrong = begins & relative
    bases[[*known]] = [*known.values()]
    is_wrong[[*known]] = False
    bases *= relative
    after = (ends + bases)[last] + sums - sums[last]
    bases = np.where(begins, bases, np.concatenate([[0], after[:-1]]))
    lengths, wrong = tokens.lengths[ids], np.flatnonzero(is_wrong)
    samples = tokens.arena[places_of(tokens.starts[ids], lengths)] + np.repeat(bases, lengths)
    return samples, bases, int(wrong[0]) if wrong.size else -1
