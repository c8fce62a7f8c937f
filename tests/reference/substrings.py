"""Substrings that occur often, by counting all of them, and where given sequences begin.

Units are sequences of symbols; a place is a unit and a position in it.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

Symbols = tuple[int, ...]
Place = tuple[int, int]


class Candidate(NamedTuple):
    """A substring, how often it occurs by weight, and all its places in order."""

    symbols: Symbols
    count: int
    places: list[Place]


def of_length(units: Sequence[Sequence[int]], weights: Sequence[int], length: int, min_count: int) -> list[Candidate]:
    """The substrings of one length that occur often enough, in order of their first occurrence; occurrences may overlap.

    >>> of_length([[0, 0, 0], [0, 0]], [10, 1], 2, 21)
    [Candidate(symbols=(0, 0), count=21, places=[(0, 0), (0, 1), (1, 0)])]
    """
    places: dict[Symbols, list[Place]] = {}
    for u, unit in enumerate(units):
        for p in range(len(unit) - length + 1):
            places.setdefault(tuple(unit[p : p + length]), []).append((u, p))
    found = [Candidate(symbols, sum(weights[u] for u, _ in at), at) for symbols, at in places.items()]
    return [candidate for candidate in found if candidate.count >= min_count]


def candidates(
    units: Sequence[Sequence[int]], weights: Sequence[int], longest: int | None, min_count: int, most_edges: int
) -> tuple[list[Candidate], int]:
    """All substrings of two symbols or more that occur often enough, the shorter first, and the length up to which they are.

    A length is looked for if it is allowed and there is something that could become longer. It is given up, with all that are
    longer, if with its places there would be more than `most_edges`.

    >>> found, length = candidates([[0, 1, 2, 0, 1, 3]], [1], None, 2, 100)
    >>> found, length
    ([Candidate(symbols=(0, 1), count=2, places=[(0, 0), (0, 3)])], 3)
    >>> candidates([[0, 1, 2, 0, 1, 3]], [1], None, 2, 1)
    ([], 1)
    """
    found: list[Candidate] = []
    size = max(map(len, units), default=0)
    limit = size + 1 if longest is None else longest
    for length in range(2, min(size, limit) + 1):
        level = of_length(units, weights, length, min_count)
        if sum(len(candidate.places) for candidate in [*found, *level]) > most_edges:
            return found, length - 1
        found += level
    reached = max((len(candidate.symbols) for candidate in found), default=min(size, 1))
    return found, max(1, min(limit, reached + 1 if reached else 1))


def edges(units: Sequence[Sequence[int]], wanted: Mapping[Symbols, int]) -> list[list[tuple[int, int]]]:
    """Of every node of every unit the (length, number) of the wanted sequences that begin there, the shorter first.

    >>> edges([[0, 1, 0, 1], []], {(0, 1): 7, (0, 1, 0): 3})
    [[(2, 7), (3, 3)], [], [(2, 7)], [], [], []]
    """
    lengths = sorted({len(symbols) for symbols in wanted})
    nodes = []
    for unit in units:
        for p in range(len(unit) + 1):
            here = [(n, wanted.get(tuple(unit[p : p + n]))) for n in lengths if p + n <= len(unit)]
            nodes.append([(n, number) for n, number in here if number is not None])
    return nodes
