"""Searches beyond one best path, in the words of encode_paths.py: by bag, by prices, and by trying everything.

The bag of a path says how often it holds each token. Prices are whole numbers for ids; an id that is not listed costs nothing.
"""

from __future__ import annotations

from collections import Counter

from .encode_paths import Path, Vocabulary, all_cuts, all_paths, fixed, matches, path_weight

Found = list[tuple[Path, int]]


def score(path: Path, weights: dict[int, float], prices: dict[int, int]) -> int:
    """What a beam with prices is ordered by: each occurrence adds what it adds to the weight, but no more than its price.

    >>> score((5, 0, 5), {5: 1.0}, {5: 20_000_000}) == 2**24 + min(fixed(1.0, 2) - fixed(1.0, 1), 20_000_000)
    True
    >>> score((5, 5), {5: 1.0}, {5: 3})
    6
    """
    total = 0
    for token, count in Counter(path).items():
        idf = weights.get(token, 0.0)
        total += sum(min(prices.get(token, 0), fixed(idf, c + 1) - fixed(idf, c)) for c in range(count))
    return total


def beam_search(
    doc: list[int],
    vocabulary: Vocabulary,
    weights: dict[int, float],
    beam: int,
    by_bag: bool,
    prices: dict[int, int] | None = None,
) -> Found:
    """The best `beam` tails of every position, from the end, as `encode_top`; by bag, at most one of each bag.

    >>> vocabulary = {(0, 1): 5}
    >>> beam_search([0, 1, 0, 1], vocabulary, {5: 0.5}, 3, by_bag=True)[1]
    ((0, 1, 5), 8388608)
    >>> [path for path, _ in beam_search([0, 1, 0, 1], vocabulary, {5: 0.5}, 3, by_bag=False)]
    [(5, 5), (0, 1, 5), (5, 0, 1)]
    """
    tails: dict[int, Found] = {len(doc): [((), 0)]}
    for start in reversed(range(len(doc))):
        candidates = []
        for token, end in matches(doc, start, vocabulary):
            for place, (tail, _) in enumerate(tails[end]):
                path = (token, *tail)
                value = path_weight(path, weights) if prices is None else score(path, weights, prices)
                candidates.append((-value, len(path), place, end, path))
        tails[start] = _first_of_each([(path, -minus) for minus, _, _, _, path in sorted(candidates)], by_bag)[:beam]
    return tails[0]


def n_best_of_all(doc: list[int], vocabulary: Vocabulary, weights: dict[int, float], n: int, by_bag: bool) -> Found:
    """The truly n best paths: heavier, then fewer tokens, then the shorter first token, or else the second, and so on.

    >>> n_best_of_all([0, 1, 0], {(0, 1): 5, (1, 0): 6}, {5: 0.25, 6: 0.5}, 2, by_bag=False)
    [((0, 6), 8388608), ((5, 0), 4194304)]
    """
    ordered = []
    for cut in all_cuts(doc, vocabulary):
        path = tuple(token for token, _ in cut)
        ordered.append((-path_weight(path, weights), len(path), [end for _, end in cut], path))
    return _first_of_each([(path, -minus) for minus, _, _, path in sorted(ordered)], by_bag)[:n]


def bound(doc: list[int], vocabulary: Vocabulary, weights: dict[int, float], prices: dict[int, int]) -> int:
    """What any path can weigh at most: the dearest path, and by how much the steps of every weight exceed the price.

    >>> bound([0, 1, 0, 1], {(0, 1): 5}, {5: 1.0}, {5: 2**24}) == 2 * 2**24
    True
    """
    paths = list(all_paths(doc, vocabulary))
    occurrences = Counter(token for start in range(len(doc)) for token, _ in matches(doc, start, vocabulary))
    over = 0
    for token, count in occurrences.items():
        idf = weights.get(token, 0.0)
        over += sum(max(0, fixed(idf, c + 1) - fixed(idf, c) - prices.get(token, 0)) for c in range(count))
    return over + max(sum(prices.get(token, 0) for token in path) for path in paths)


def _first_of_each(found: Found, by_bag: bool) -> Found:
    seen = set()
    first = []
    for path, weight in found:
        bag = tuple(sorted(path)) if by_bag else path
        if bag not in seen:
            seen.add(bag)
            first.append((path, weight))
    return first
