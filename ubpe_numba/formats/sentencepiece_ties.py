"""Pieces of equal score in a BPE of sentencepiece, of which the leftmost merges first: no order of ranks says that in general.

In all models known they are of one character, ▁, and `runs_in_order` finds an order for them. Others are allowed where it makes
no difference, as `check_ties` finds out.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.formats.sentencepiece import Pieces
from ubpe_numba.runtime.arrays import offsets_of

__all__ = ["check_ties", "parts_of_run", "runs_in_order"]

_LONGEST_RUN, _MOST_RUNS = 32, 2  # characters, and scores that several such pieces have: trying an order takes 50 ms
_NO_RANK = 1 << 30


def runs_in_order(pieces: Pieces, by_rank: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pieces of equal score that are one character several times, in an order that merges them as from the left.

    From the left a run of characters becomes pieces of the largest length, mostly 16, and what is left. By rank: powers of two
    first, which leaves the rest as ever smaller powers; then these join from the left, if what ends with the larger one comes
    first: 12 = 8 + 4, then 14 = 12 + 2, 10 and 6, then 15 = 14 + 1, 13, 11, 9, 7, 5 and 3. Whether that gives the same is tried.
    Returns all pieces, int64, and whether each is of a score that another has too and is not put in order here, bool.
    """
    scores = pieces.scores[by_rank]
    points, starts = pieces.points_of(by_rank), offsets_of(pieces.lengths[by_rank])
    new = np.concatenate([[True], scores[1:] != scores[:-1], [True]])
    out, tied, left = by_rank.copy(), ~(new[:-1] & new[1:]), _MOST_RUNS
    for begin, end in pairwise(np.flatnonzero(new).tolist()):
        chosen = by_rank[begin:end]
        lengths = pieces.lengths[chosen]
        if chosen.size < 2 or lengths.max() > _LONGEST_RUN or np.ptp(points[starts[begin] : starts[end]]) or not left:
            continue
        left -= 1
        low = lengths & -lengths
        power = low == lengths
        order = np.lexsort([np.where(power, lengths, -lengths), np.where(power, 0, -low), ~power])
        by_order = {length: rank for rank, length in enumerate(lengths[order].tolist())}
        from_left = dict.fromkeys(by_order, 0)
        if all(parts_of_run(n, by_order) == parts_of_run(n, from_left) for n in range(3 * int(lengths.max()))):
            out[begin:end], tied[begin:end] = chosen[order], False
    return out, tied


def parts_of_run(n: int, ranks: dict[int, int]) -> list[int]:
    """The lengths of the parts that a run of n characters is merged to, by the ranks of lengths, of equal ones from the left.

    >>> parts_of_run(7, {2: 0, 4: 1, 3: 2}), parts_of_run(7, {2: 0, 4: 0, 3: 0})
    ([4, 3], [4, 3])
    """
    parts = [1] * n
    while len(parts) > 1:
        rank, at = min((ranks.get(a + b, _NO_RANK), i) for i, (a, b) in enumerate(pairwise(parts)))
        if rank == _NO_RANK:
            break
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return parts


def check_ties(pieces: Pieces, by_rank: np.ndarray, pairs: np.ndarray, tied: np.ndarray) -> None:
    """ModelFormatError if the order of pieces of equal score matters: if one ends with what another of lower rank begins with.

    Of two that overlap sentencepiece merges the left one first. `tied` bool[m]: whether the score is that of another piece too.
    """
    places = np.flatnonzero(tied)
    scores = pieces.scores[by_rank[places]]
    for chosen in np.split(places, np.flatnonzero(np.diff(scores)) + 1):
        first = dict(zip(pairs[chosen, 0].tolist()[::-1], chosen.tolist()[::-1], strict=True))
        for i, right in zip(chosen.tolist(), pairs[chosen, 1].tolist(), strict=True):
            if first.get(right, i) < i:
                names = pieces.names
                a, b = names[by_rank[i]], names[by_rank[first[right]]]
                raise ModelFormatError(
                    f"the pieces {quoted(a)} and {quoted(b)} have the same score, and which is merged first depends on where"
                )
