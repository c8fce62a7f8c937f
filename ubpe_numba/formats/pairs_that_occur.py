"""Which pairs of a table can occur in a text: of several that make one token only one, and none with a part that nothing makes.

A token of several pairs is encoded by itself; the pair that is merged last is the one that can occur. With the pairs
0 = (b, c), 1 = (a, b), 2 = (ab, c), 3 = (a, bc)::

    abc    (b, c) has the lowest rank: a bc    then (a, bc): pair 3 occurs, pair 2 never
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.formats.kernels.last_merges import enter_ranks, last_merges
from ubpe_numba.formats.name_pairs import NamePairs
from ubpe_numba.runtime.lazy import cached_property

#: Limit of the steps to find the pairs of tokens, the square of the length for each: some tenth of a second. In real files
#: the sum is up to 13 million (Llama 4, o200k).
WORK = 1 << 27
_NOT_YET = -2
_MOST_ROUNDS = 64  # of leaving out pairs whose parts nothing makes


def with_parts(left: np.ndarray, right: np.ndarray, made: np.ndarray, symbols: np.ndarray) -> np.ndarray:
    """Which pairs have parts that are symbols, or made by other such pairs: bool[m]. O(pairs) a level.

    `left`, `right`, `made` int64[m] are the ids of the parts and of what they make, `symbols` the ids of symbols. The others
    never occur. ModelFormatError for more than 64 levels.

    >>> with_parts(np.array([0, 7, 8]), np.array([1, 7, 0]), np.array([6, 8, 9]), np.array([0, 1])).tolist()
    [True, False, False]
    """
    is_symbol = np.zeros(max(map(int, map(np.max, (left, right, made)))) + 1 if left.size else 0, bool)
    is_symbol[symbols[symbols < is_symbol.size]] = True
    there = np.ones(left.size, bool)
    for _ in range(_MOST_ROUNDS):
        known = is_symbol.copy()
        known[made[there]] = True
        found = there & known[left] & known[right]
        if found.sum() == there.sum():
            return there
        there = found
    raise ModelFormatError(f"merges: there are more than {_MOST_ROUNDS} levels of pairs whose parts nothing makes")


def last_of_each(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Which pairs are not there once more behind, bool[m]. O(m log m).

    >>> last_of_each(np.array([5, 6, 5]), np.array([7, 7, 7])).tolist()
    [False, True, True]
    """
    keys = left << 32 | right
    order = np.argsort(keys, kind="stable")
    is_last = np.ones(left.size, bool)
    is_last[order[:-1]] = np.diff(keys[order]) != 0
    return is_last


class MergedAlone:
    """Encoding of what pairs make, each by itself: tables that are made when they are first needed.

    `by_rank` are the ids of the parts of every pair and of what they make, int64[m] each, `letters` the ids of symbols and these.
    """

    def __init__(self, pairs: NamePairs, by_rank: tuple[np.ndarray, ...], letters: list[tuple[int, str]]) -> None:
        self._pairs, self._by_rank, self._letters = pairs, by_rank, letters

    @cached_property
    def _entries(self) -> np.ndarray:
        left, right, _ = self._by_rank
        entries = np.full(4 << left.size.bit_length(), -1, np.int64)
        enter_ranks(left.astype(np.int32), right.astype(np.int32), entries)
        return entries

    @cached_property
    def _id_of(self) -> np.ndarray:
        """The id of the symbol that each code point is, -1 for none, int32."""
        id_of = np.full(0x110000, -1, np.int32)
        id_of[[ord(letter) for _, letter in self._letters]] = [i for i, _ in self._letters]
        return id_of

    @cached_property
    def lengths(self) -> np.ndarray:
        """Symbols of what every pair makes, int64[m]."""
        text, starts = self._pairs.wholes()
        return np.add.reduceat((text & 0xC0 != 0x80).view(np.uint8), starts[:-1], dtype=np.int64)

    def hold_longer_runs(self, which: np.ndarray, longest: dict[int, int]) -> bool:
        """Whether what some pairs make holds a symbol more often in a row than `longest` says."""
        by_symbol = [(self._letters[symbol][1] * (n + 1), n) for symbol, n in longest.items()]
        least = min(n for _, n in by_symbol)
        names = ["".join(self._pairs[i]) for i in which[self.lengths[which] > least].tolist()]
        return any(run in name for run, _ in by_symbol for name in names)

    def last(self, which: np.ndarray) -> np.ndarray:
        """The rank of the pair that is merged last, of what some pairs make, int64; -1 if that does not become one token."""
        made = self._by_rank[2]
        todo = which[self._found[made[which]] == _NOT_YET]
        if todo.size:
            self._found[made[todo]] = self._merged(todo)
        found: np.ndarray = self._found[made[which]]
        return found

    @cached_property
    def _found(self) -> np.ndarray:
        """What `last` found, by the id that a pair makes."""
        return np.full(int(self._by_rank[2].max()) + 1, _NOT_YET, np.int64)

    def _merged(self, which: np.ndarray) -> np.ndarray:
        """As `last`, without remembering it."""
        if float((self.lengths[which].astype(np.float64) ** 2).sum()) > WORK:
            raise ModelFormatError("merges: too many tokens, or too long ones, are made by several pairs")
        text, starts = self._pairs.wholes()
        ends, ranks, parts = np.empty((3, int(np.diff(starts).max())), np.int32)
        last = np.empty(which.size, np.int64)
        made = self._by_rank[2].astype(np.int32)
        last_merges(text, starts, which, self._id_of, made, self._entries, ends, ranks, parts, last)
        return last


def pairs_that_occur(
    pairs_of_names: NamePairs, left: np.ndarray, right: np.ndarray, made: np.ndarray, alone: MergedAlone
) -> np.ndarray:
    """For every token the one of its pairs that can occur, or its first if none can: ascending ranks, int64.

    It is the last pair that is merged when the token is encoded by itself. No other pair whose parts join to the token can ever
    occur in a text: the merges inside a stretch of text, as long as none crosses its ends, are those of the stretch alone.
    `left`, `right`, `made` int64[m] are the ids of the parts and of what they make.
    """
    keys = left << 32 | right
    ordered = np.sort(keys)
    if (ordered[1:] == ordered[:-1]).any():
        order = np.argsort(keys, kind="stable")
        i = order[np.flatnonzero(np.diff(keys[order]) == 0)].min()
        raise ModelFormatError(f"merges: the pair {quoted(pairs_of_names[int(i)])} is there twice")
    is_only = np.bincount(made)[made] == 1
    if is_only.all():
        return np.arange(made.size)
    several = np.flatnonzero(~is_only)
    rank = np.full(int(made.max()) + 1, -1)
    rank[made[several[::-1]]] = several[::-1]  # the first of each token, which is written last
    first = np.sort(rank[rank >= 0])
    last = alone.last(first)
    return np.sort(np.concatenate([np.flatnonzero(is_only), np.where(last < 0, first, last)]))
