"""Encoding with a pair table: every pair has a rank (the lower, the more valuable) and an id."""

from __future__ import annotations

from .fit import Pair, adjacent, replace

Ranked = dict[Pair, tuple[int, int]]


def encode_rank(doc: list[int], merges: Ranked) -> list[int]:
    """Replace the pair of lowest rank wherever it stands, until no known pair is left.

    >>> encode_rank([0, 1, 2, 0, 1], {(0, 1): (0, 3), (1, 2): (1, 4), (3, 2): (2, 5)})
    [5, 3]
    """
    while True:
        present = [pair for pair in adjacent(doc) if pair in merges]
        if not present:
            return list(doc)
        best = min(present, key=lambda pair: merges[pair][0])
        doc = replace(doc, {best: merges[best][1]})


def take_batch(present: set[Pair], by_rank: list[Pair]) -> list[Pair]:
    """The pairs of one pass: the best one present, then further ones present, in order of rank.

    The walk ends at the first pair that shares a token with those taken so far, present or not.

    >>> by_rank = [(9, 9), (0, 1), (2, 3), (4, 5), (3, 7), (6, 8)]
    >>> take_batch({(0, 1), (4, 5), (6, 8)}, by_rank)
    [(0, 1), (4, 5), (6, 8)]
    >>> take_batch({(0, 1), (2, 3), (6, 8)}, by_rank)  # ends at (3, 7), which shares the 3 with (2, 3)
    [(0, 1), (2, 3)]
    """
    taken: list[Pair] = []
    for left, right in by_rank:
        if any(left in pair or right in pair for pair in taken):
            break
        if (left, right) in present:
            taken.append((left, right))
    return taken


def encode_batch(doc: list[int], merges: Ranked) -> list[int]:
    """Replace several pairs a pass, chosen by `take_batch`, until no known pair is left.

    This may differ from `encode_rank`: here (1, 2) becomes 4 and (3, 5) becomes 6 in the same pass, which
    ends before the better pair (4, 3) exists.

    >>> merges = {(1, 2): (1, 4), (4, 3): (0, 7), (3, 5): (2, 6)}
    >>> encode_batch([1, 2, 3, 5], merges), encode_rank([1, 2, 3, 5], merges)
    ([4, 6], [7, 5])
    """
    by_rank = sorted(merges, key=lambda pair: merges[pair][0])
    while True:
        taken = take_batch(set(adjacent(doc)), by_rank)
        if not taken:
            return list(doc)
        doc = replace(doc, {pair: merges[pair][1] for pair in taken})
