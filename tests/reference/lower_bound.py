"""How few tokens vocabularies of a size need: by trying all of them, by a linear programme, and by prices of symbols."""

from __future__ import annotations

import itertools

Units = list[tuple[list[int], int]]  # distinct ones of one symbol or more, and how often each occurs
Token = tuple[int, ...]


def candidates(units: Units, longest: int, min_count: int) -> list[Token]:
    """The substrings of 2 to `longest` symbols that occur often enough, by weight; occurrences that overlap count.

    >>> candidates([([0, 0, 0], 1), ([0, 1], 2)], 3, 2)
    [(0, 0), (0, 1)]
    """
    counts: dict[Token, int] = {}
    for unit, weight in units:
        for i, j in itertools.combinations(range(len(unit) + 1), 2):
            if 2 <= j - i <= longest:
                token = tuple(unit[i:j])
                counts[token] = counts.get(token, 0) + weight
    return sorted(token for token, count in counts.items() if count >= min_count)


def fewest(unit: list[int], tokens: set[Token]) -> int:
    """The fewest tokens of a segmentation of a unit.

    >>> fewest([0, 1, 0, 1, 0], {(0, 1)})
    3
    """
    behind = [0] * (len(unit) + 1)
    for i in reversed(range(len(unit))):
        ends = [i + 1, *(j for j in range(i + 2, len(unit) + 1) if tuple(unit[i:j]) in tokens)]
        behind[i] = 1 + min(behind[j] for j in ends)
    return behind[0]


def fewest_of_all(units: Units, n: int, longest: int, min_count: int) -> int:
    """The fewest tokens of all units by any vocabulary of n learned tokens.

    >>> fewest_of_all([([0, 1, 0, 1], 1), ([0, 1], 1)], 1, 2, 1)
    3
    """
    known = candidates(units, longest, min_count)
    chosen = itertools.combinations(known, min(n, len(known)))
    return min(sum(weight * fewest(unit, set(tokens)) for unit, weight in units) for tokens in chosen)


def linear_programme(units: Units, n: int, longest: int, min_count: int) -> float:
    """The same with tokens that belong to the vocabulary in part, and paths that are taken in part: scipy's HiGHS.

    Variables: the flow of every edge, symbols included, and the part of every candidate. What flows into a node flows out of it,
    an edge carries no more than the part of its candidate, parts are at most 1 and at most n in all.

    >>> round(linear_programme([([0, 1, 0, 1], 1), ([0, 1], 1)], 1, 2, 1), 6)
    3.0
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_matrix

    known = {token: t for t, token in enumerate(candidates(units, longest, min_count))}
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
    most = [(row, e, 1.0) for row, (e, _) in enumerate(inner)] + [(row, size + t, -1.0) for row, (_, t) in enumerate(inner)]
    most += [(len(inner), size + t, 1.0) for t in range(len(known))]
    most_weight = max(weight for _, weight in units)
    found = linprog(
        [weight / most_weight for weight, _, _, _ in edges] + [0] * len(known),  # large numbers are not for HiGHS
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


def bound_of_prices(
    units: Units, prices: list[list[int]], one: int, n: int, longest: int, min_count: int
) -> tuple[int, list[int]]:
    """The bound by prices of symbols in multiples of 1 / one of a token, and what each candidate exceeds a token by.

    >>> bound_of_prices([([0, 1, 0, 1], 1)], [[1, 2, 1, 2]], 2, 1, 4, 1)
    (2, [2, 2, 4, 1, 3])
    """
    assert all(price <= one for unit in prices for price in unit)
    known = candidates(units, longest, min_count)
    sums = dict.fromkeys(known, 0)
    for (unit, weight), of_unit in zip(units, prices, strict=True):
        for i, j in itertools.combinations(range(len(unit) + 1), 2):
            if tuple(unit[i:j]) in sums:
                sums[tuple(unit[i:j])] += weight * max(0, sum(of_unit[i:j]) - one)
    total = sum(weight * sum(of_unit) for (_, weight), of_unit in zip(units, prices, strict=True))
    return total - sum(sorted(sums.values(), reverse=True)[:n]), list(sums.values())
