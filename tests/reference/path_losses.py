"""What tokens and candidates are worth to the paths of fewest tokens: by looking at all paths, and from the distances of nodes.

The lattice of a unit of n symbols is a list for each of its n + 1 nodes: the (length, token) of the edges that leave it. Each
symbol is an edge too, of length 1, that is in no list. A path is a list of edges (from, to, token), token None for a symbol.
All paths are too many for a unit of more than some ten symbols; distances are found breadth first.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

Lattice = Sequence[Sequence[tuple[int, int]]]
Edge = tuple[int, int, int | None]
Occurrence = tuple[int, int, int, int]  # from, to, token, what it saves


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


# --- by all paths ------------------------------------------------------------------------------------------


def paths(lattice: Lattice, start: int, end: int) -> Iterator[list[Edge]]:
    """All paths from one node to another.

    >>> list(paths([[(2, 7)], [], []], 0, 2))
    [[(0, 1, None), (1, 2, None)], [(0, 2, 7)]]
    """
    if start == end:
        yield []
        return
    for edge in steps(lattice, start):
        if edge[1] <= end:
            for rest in paths(lattice, edge[1], end):
                yield [edge, *rest]


def best_path_of_all(lattice: Lattice) -> list[Edge]:
    """A path of fewest tokens: of those the one whose first edge is the last of its node's list, then whose second edge is, ...

    A symbol counts as the first of its node's list.

    >>> best_path_of_all([[(2, 7), (2, 8)], [(2, 9)], [], []])
    [(0, 2, 8), (2, 3, None)]
    """

    def key(path: list[Edge]) -> tuple[int, list[int]]:
        return -len(path), [steps(lattice, edge[0]).index(edge) for edge in path]

    return max(paths(lattice, 0, len(lattice) - 1), key=key)


def losses_of_all(lattice: Lattice) -> list[tuple[Edge, int]]:
    """The edges of the best path, and by how many tokens the paths through the nodes inside of each are longer at least.

    >>> losses_of_all([[(2, 7)], [], [(2, 7)], [], []])
    [((0, 2, 7), 1), ((2, 4, 7), 1)]
    """
    best = best_path_of_all(lattice)
    every = list(paths(lattice, 0, len(lattice) - 1))
    found = []
    for edge in best:
        inside = set(range(edge[0] + 1, edge[1]))
        through = [len(path) for path in every if inside & {start for start, _, _ in path}]
        found.append((edge, min(through, default=len(best)) - len(best)))
    return found


def gains_of_all(lattice: Lattice, candidates: Lattice) -> list[Occurrence]:
    """The edges of candidates through which, each added alone, there is a shorter path, from left to right.

    >>> gains_of_all([[(2, 7)], [], [(2, 7)], [], []], [[(4, 5), (2, 6)], [], [], [], []])
    [(0, 4, 5, 1)]
    """
    best = len(best_path_of_all(lattice))
    found = []
    for node, here in enumerate(candidates):
        for length, token in here:
            edge = (node, node + length, -1 - token)
            more = [[*own, *([(length, -1 - token)] if v == node else [])] for v, own in enumerate(lattice)]
            saved = best - min(len(path) for path in paths(more, 0, len(lattice) - 1) if edge in path)
            if saved > 0:
                found.append((node, node + length, token, saved))
    return found


# --- from distances ----------------------------------------------------------------------------------------


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


def losses_by_distance(lattice: Lattice) -> list[tuple[Edge, int]]:
    """As `losses_of_all`.

    >>> losses_by_distance([[(2, 7)], [], [(2, 7)], [], []])
    [((0, 2, 7), 1), ((2, 4, 7), 1)]
    """
    ahead, behind = distances(lattice)
    v, found = 0, []
    while v < len(lattice) - 1:
        edge = [edge for edge in steps(lattice, v) if behind[edge[1]] == behind[v] - 1][-1]
        inside = range(v + 1, edge[1])
        found.append((edge, min((ahead[x] + behind[x] - behind[0] for x in inside), default=0)))
        v = edge[1]
    return found


def gains_by_distance(lattice: Lattice, candidates: Lattice) -> list[Occurrence]:
    """As `gains_of_all`.

    >>> gains_by_distance([[(2, 7)], [], [(2, 7)], [], []], [[(4, 5), (2, 6)], [], [], [], []])
    [(0, 4, 5, 1)]
    """
    ahead, behind = distances(lattice)
    edges = [(v, v + length, token) for v, here in enumerate(candidates) for length, token in here]
    found = [(v, w, token, behind[0] - (ahead[v] + 1 + behind[w])) for v, w, token in edges]
    return [occurrence for occurrence in found if occurrence[3] > 0]


# --- of many units -----------------------------------------------------------------------------------------


def apart(occurrences: Iterable[Occurrence]) -> list[Occurrence]:
    """From left to right the occurrences that do not overlap an earlier one of the same token that is among them.

    >>> apart([(0, 3, 5, 1), (2, 5, 5, 2), (2, 5, 6, 1), (3, 6, 5, 1)])
    [(0, 3, 5, 1), (2, 5, 6, 1), (3, 6, 5, 1)]
    """
    reached: dict[int, int] = {}
    found = []
    for occurrence in occurrences:
        start, end, token, _ = occurrence
        if reached.get(token, start) <= start:
            reached[token] = end
            found.append(occurrence)
    return found


def losses(
    lattices: Sequence[Lattice], weights: Sequence[int], most: Sequence[int], try_all: bool = False
) -> tuple[int, dict[int, Worth]]:
    """Fewest tokens of all units, by weight, and what the tokens of their best paths are worth; units of weight 0 are not there.

    >>> unit = [[(2, 7)], [], [(2, 7)], [], []]
    >>> losses([unit, unit], [3, 0], [1, 1])
    (6, {7: Worth(saved=6, most=2, count=6)})
    """
    total, worth = 0, dict[int, Worth]()
    for lattice, weight, own in zip(lattices, weights, most, strict=True):
        if weight:
            path = losses_of_all(lattice) if try_all else losses_by_distance(lattice)
            total += weight * len(path)
            _add(worth, [(token, saved) for (_, _, token), saved in path if token is not None], weight, own)
    return total, worth


def gains(
    lattices: Sequence[Lattice],
    candidates: Sequence[Lattice],
    weights: Sequence[int],
    most: Sequence[int],
    try_all: bool = False,
) -> dict[int, Worth]:
    """What the occurrences of candidates would save, each alone; of those that would and overlap the first one counts.

    >>> gains([[[], [], [], []]], [[[(2, 5)], [(2, 5)], [], []]], [10], [1])
    {5: Worth(saved=10, most=1, count=10)}
    """
    worth: dict[int, Worth] = {}
    for lattice, edges, weight, own in zip(lattices, candidates, weights, most, strict=True):
        if weight:
            found = gains_of_all(lattice, edges) if try_all else gains_by_distance(lattice, edges)
            _add(worth, [(token, saved) for _, _, token, saved in apart(found)], weight, own)
    return worth


def _add(worth: dict[int, Worth], saved: list[tuple[int, int]], weight: int, own: int) -> None:
    """Add what one unit saves."""
    for token in dict.fromkeys(token for token, _ in saved):
        here = [part for other, part in saved if other == token]
        before = worth.get(token, Worth())
        worth[token] = Worth(
            before.saved + weight * sum(here), max(before.most, own * sum(here)), before.count + weight * len(here)
        )
