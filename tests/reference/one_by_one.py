"""Encoding by merge rank, one merge at a time, as plainly as it can be said."""

from __future__ import annotations

from collections.abc import Sequence

from .fit import adjacent


def one_by_one(symbols: Sequence[int], merges: Sequence[tuple[int, int]], n_symbols: int) -> list[int]:
    """Merge the pair of the lowest rank, the leftmost of several, until there is none. Pair i makes the id n_symbols + i.

    >>> one_by_one([0, 1, 0, 1], [(3, 0), (0, 1)], 2)
    [2, 1]
    """
    rank, ids = {pair: i for i, pair in enumerate(merges)}, list(symbols)
    while found := [(rank[pair], i) for i, pair in enumerate(adjacent(ids)) if pair in rank]:
        lowest, at = min(found)
        ids[at : at + 2] = [n_symbols + lowest]
    return ids
