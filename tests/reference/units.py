"""Fewest tokens: substrings that occur often, what they are worth to paths of fewest tokens, bounds below all vocabularies.

Units are sequences of symbols; a place is a unit and a position in it. The lattice of a unit of n symbols is
a list for each of its n + 1 nodes: the (length, token) of the edges that leave it. Each symbol is an edge
too, of length 1, that is in no list. An edge is (from, to, token), token None for a symbol. The fewest tokens
between nodes, distances, are found breadth first.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

Symbols = tuple[int, ...]
Place = tuple[int, int]
Lattice = Sequence[Sequence[tuple[int, int]]]
Edge = tuple[int, int, "int | None"]
Weighed = list[tuple[list[int], int]]  # distinct units of one symbol or more, and how often each occurs


class Candidate(NamedTuple):
    """A substring, how often it occurs by weight, and all its places in order."""

    symbols: Symbols
    count: int
    places: list[Place]


def of_length(
    units: Sequence[Sequence[int]], weights: Sequence[int], length: int, min_count: int
) -> list[Candidate]:
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
    units: Sequence[Sequence[int]],
    weights: Sequence[int],
    longest: int | None,
    min_count: int,
    most_edges: int,
) -> tuple[list[Candidate], int]:
    """All substrings of two symbols or more that occur often enough, the shorter first, and the length up to which they are.

    A length is looked for if it is allowed and there is something that could become longer. It is given up,
    with all that are longer, if with its places there would be more than `most_edges`.

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


class Worth(NamedTuple):
    """What a token saves in all units by weight, what of that the unit that counts most in it, and how often paths hold it."""

    saved: int = 0
    most: int = 0
    count: int = 0


def steps(lattice: Lattice, node: int) -> list[Edge]:
    """The edges that leave a node, that of the symbol first.

    >>> steps([[(2, 7)], [], []], 0), steps([[(2, 7)], [], []], 2)
    ([(0, 1, None), (0, 2, 7)], [])
    """
    if node == len(lattice) - 1:
        return []
    return [(node, node + 1, None), *((node, node + length, token) for length, token in lattice[node])]


def only(lattice: Lattice, wanted: Iterable[int]) -> Lattice:
    """The lattice with the edges of some tokens only.

    >>> only([[(2, 7), (2, 8)], [], []], [8])
    [[(2, 8)], [], []]
    """
    wanted = set(wanted)
    return [[(length, token) for length, token in here if token in wanted] for here in lattice]


def distances(lattice: Lattice) -> tuple[list[int], list[int]]:
    """The fewest tokens from the first node to each, and from each to the last: of the nodes that 0, 1, 2, ... tokens reach.

    >>> distances([[(2, 7)], [], [(2, 7)], [], []])
    ([0, 1, 1, 2, 2], [2, 2, 1, 1, 0])
    """
    forward = [[end for _, end, _ in steps(lattice, v)] for v in range(len(lattice))]
    backward: list[list[int]] = [[] for _ in lattice]
    for v, ends in enumerate(forward):
        for end in ends:
            backward[end].append(v)
    return spread(forward, 0), spread(backward, len(lattice) - 1)


def spread(neighbours: list[list[int]], start: int) -> list[int]:
    """How many steps each node is from one of them.

    >>> spread([[1, 2], [], [3], []], 0)
    [0, 1, 1, 2]
    """
    far = {start: 0}
    border = [start]
    while border:
        border = [w for v in border for w in neighbours[v] if far.setdefault(w, far[v] + 1) == far[v] + 1]
        border = list(dict.fromkeys(border))
    return [far[v] for v in range(len(neighbours))]


def losses(
    lattices: Sequence[Lattice], weights: Sequence[int], most: Sequence[int]
) -> tuple[int, dict[int, Worth]]:
    """Fewest tokens of all units, by weight, and what the tokens of their best paths are worth; units of weight 0 are not there.

    An edge of a best path is worth by how many tokens the paths through the nodes inside of it are longer at
    least. Of paths as short that whose first edge is the last of its node's list, a symbol the first of all,
    then whose second is, ...

    >>> unit = [[(2, 7)], [], [(2, 7)], [], []]
    >>> losses([unit, unit], [3, 0], [1, 1])
    (6, {7: Worth(saved=6, most=2, count=6)})
    """
    total, worth = 0, dict[int, Worth]()
    for lattice, weight, own in zip(lattices, weights, most, strict=True):
        ahead, behind = distances(lattice)
        v, found = 0, []
        while weight and v < len(lattice) - 1:
            _, end, token = [edge for edge in steps(lattice, v) if behind[edge[1]] == behind[v] - 1][-1]
            if token is not None:
                found.append((token, min(ahead[x] + behind[x] - behind[0] for x in range(v + 1, end))))
            v = end
        total += weight * behind[0]
        _add(worth, found, weight, own)
    return total, worth


def gains(
    lattices: Sequence[Lattice],
    candidates: Sequence[Lattice],
    weights: Sequence[int],
    most: Sequence[int],
    prefer: Sequence[int],
) -> dict[int, Worth]:
    """What the occurrences of candidates would save, each alone; of those that would and overlap the first one counts.

    With `prefer`, a number for each candidate, none overlap at all: one that overlaps the last that counts
    replaces it if its candidate's number is larger, else it does not count.

    >>> gains([[[], [], [], []]], [[[(2, 5)], [(2, 5)], [], []]], [10], [1], [])
    {5: Worth(saved=10, most=1, count=10)}
    >>> gains([[[], [], [], []]], [[[(2, 0)], [(2, 1)], [], []]], [10], [1], [3, 4])
    {1: Worth(saved=10, most=1, count=10)}
    """
    worth: dict[int, Worth] = {}
    for lattice, edges, weight, own in zip(lattices, candidates, weights, most, strict=True):
        ahead, behind = distances(lattice)
        counted: list[tuple[int, int, int]] = []  # the token, what it saves, and its end
        for v, here in enumerate(edges):
            for length, token in here:
                saved = behind[0] - (ahead[v] + 1 + behind[v + length])
                over = [one for one in counted if one[2] > v and (prefer or one[0] == token)]
                if (
                    not weight
                    or saved <= 0
                    or (prefer and prefer[token] <= max([0, *(prefer[one[0]] for one in over)]))
                ):
                    continue
                if prefer or not over:
                    counted = [one for one in counted if one not in over] + [(token, saved, v + length)]
        _add(worth, [one[:2] for one in counted], weight, own)
    return worth


def _add(worth: dict[int, Worth], saved: list[tuple[int, int]], weight: int, own: int) -> None:
    """Add what one unit saves."""
    for token in dict.fromkeys(token for token, _ in saved):
        here = [part for other, part in saved if other == token]
        before = worth.get(token, Worth())
        worth[token] = Worth(
            before.saved + weight * sum(here),
            max(before.most, own * sum(here)),
            before.count + weight * len(here),
        )


def weighed_candidates(units: Weighed, longest: int, min_count: int) -> list[Symbols]:
    """As `candidates`, of units with their weights, in order of their symbols.

    >>> weighed_candidates([([0, 0, 0], 1), ([0, 1], 2)], 3, 2)
    [(0, 0), (0, 1)]
    """
    found, _ = candidates(
        [unit for unit, _ in units], [weight for _, weight in units], longest, min_count, 10**9
    )
    return sorted(candidate.symbols for candidate in found)


def fewest(unit: list[int], tokens: set[Symbols]) -> int:
    """The fewest tokens of a segmentation of a unit.

    >>> fewest([0, 1, 0, 1, 0], {(0, 1)})
    3
    """
    behind = [0] * (len(unit) + 1)
    for i in reversed(range(len(unit))):
        ends = [i + 1, *(j for j in range(i + 2, len(unit) + 1) if tuple(unit[i:j]) in tokens)]
        behind[i] = 1 + min(behind[j] for j in ends)
    return behind[0]


def fewest_of_all(units: Weighed, n: int, longest: int, min_count: int) -> int:
    """The fewest tokens of all units by any vocabulary of n learned tokens.

    >>> fewest_of_all([([0, 1, 0, 1], 1), ([0, 1], 1)], 1, 2, 1)
    3
    """
    known = weighed_candidates(units, longest, min_count)
    chosen = itertools.combinations(known, min(n, len(known)))
    return min(sum(weight * fewest(unit, set(tokens)) for unit, weight in units) for tokens in chosen)


def bound_of_prices(
    units: Weighed, prices: list[list[int]], one: int, n: int, longest: int, min_count: int
) -> tuple[int, list[int]]:
    """The bound by prices of symbols in multiples of 1 / one of a token, and what each candidate exceeds a token by.

    >>> bound_of_prices([([0, 1, 0, 1], 1)], [[1, 2, 1, 2]], 2, 1, 4, 1)
    (2, [2, 2, 4, 1, 3])
    """
    assert all(price <= one for unit in prices for price in unit)
    known = weighed_candidates(units, longest, min_count)
    sums = dict.fromkeys(known, 0)
    for (unit, weight), of_unit in zip(units, prices, strict=True):
        for i, j in itertools.combinations(range(len(unit) + 1), 2):
            if tuple(unit[i:j]) in sums:
                sums[tuple(unit[i:j])] += weight * max(0, sum(of_unit[i:j]) - one)
    total = sum(weight * sum(of_unit) for (_, weight), of_unit in zip(units, prices, strict=True))
    return total - sum(sorted(sums.values(), reverse=True)[:n]), list(sums.values())
