"""Encoding with flat sequences: every way to cut a document into tokens is a path through it.

`vocabulary` gives the id of a sequence of symbols. A symbol is a token too, whether it is listed as
`(symbol,): symbol` or not. `weights` gives the idf of an id; one that is not listed, as a symbol, weighs 0.
A path is a tuple of ids.
"""

from __future__ import annotations

import ctypes
import math
from collections import Counter
from collections.abc import Iterator

Vocabulary = dict[tuple[int, ...], int]
Path = tuple[int, ...]


def fixed(idf: float, count: int) -> int:
    """Weight of a token that occurs `count` times, idf * (1 + ln count), in units of 2**-24.

    Rounded half to even. The order of the operations matters in the last bit, so it is part of the rule.

    >>> fixed(0.5, 1) == 2**23
    True
    >>> fixed(1.0, 3) == round(2**24 * (1 + math.log(3)))
    True
    >>> fixed(1.0, 0)
    0
    """
    if count == 0:
        return 0
    return round((idf * 2**24) * (1 + math.log(count)))


def path_weight(path: Path, weights: dict[int, float]) -> int:
    """Sum of `fixed` over the distinct tokens of the path.

    >>> path_weight((5, 0, 5), {5: 0.5}) == fixed(0.5, 2)
    True
    """
    return sum(fixed(weights.get(token, 0.0), count) for token, count in Counter(path).items())


def matches(doc: list[int], start: int, vocabulary: Vocabulary) -> list[tuple[int, int]]:
    """All tokens that begin at `start`, with the positions where they end, the shortest first.

    >>> matches([0, 1, 0, 1], 1, {(1, 0): 5, (1, 0, 1): 6, (0, 1): 7})
    [(1, 2), (5, 3), (6, 4)]
    """
    symbol = doc[start]
    found = [(vocabulary.get((symbol,), symbol), start + 1)]
    for end in range(start + 2, len(doc) + 1):
        sequence = tuple(doc[start:end])
        if sequence in vocabulary:
            found.append((vocabulary[sequence], end))
    return found


def all_cuts(doc: list[int], vocabulary: Vocabulary, start: int = 0) -> Iterator[list[tuple[int, int]]]:
    """Every path from `start` on, as a list of (token, end); shorter first tokens come first.

    >>> list(all_cuts([0, 1], {(0, 1): 5}))
    [[(0, 1), (1, 2)], [(5, 2)]]
    """
    if start == len(doc):
        yield []
        return
    for token, end in matches(doc, start, vocabulary):
        for tail in all_cuts(doc, vocabulary, end):
            yield [(token, end), *tail]


def all_paths(doc: list[int], vocabulary: Vocabulary) -> Iterator[Path]:
    """Every path through the document; there may be 2**(len(doc) - 1) of them.

    >>> list(all_paths([0, 1, 0], {(0, 1): 5, (1, 0): 6}))
    [(0, 1, 0), (0, 6), (5, 0)]
    """
    for cut in all_cuts(doc, vocabulary):
        yield tuple(token for token, _ in cut)


def best_path(doc: list[int], vocabulary: Vocabulary, weights: dict[int, float]) -> Path:
    """The path of largest weight, found by trying all.

    Among equals the one with fewer tokens; then the one whose first token is shorter, or else the
    second, and so on.

    >>> best_path([0, 1, 0], {(0, 1): 5, (1, 0): 6}, {5: 0.1, 6: 0.3})
    (0, 6)
    >>> best_path([0, 1, 0], {(0, 1): 5, (1, 0): 6}, {5: 0.3, 6: 0.3})
    (0, 6)
    """

    def key(cut: list[tuple[int, int]]) -> tuple[int, int, list[int]]:
        path = tuple(token for token, _ in cut)
        ends = [end for _, end in cut]
        return -path_weight(path, weights), len(path), ends

    best = min(all_cuts(doc, vocabulary), key=key)
    return tuple(token for token, _ in best)


def encode_top(doc: list[int], vocabulary: Vocabulary, weights: dict[int, float], top_n: int) -> list[tuple[Path, int]]:
    """Up to `top_n` paths with their weights, the best first, searched from the end of the document.

    At each position only the best `top_n` tails are kept and lengthened further. Weights of tokens do not
    simply add up, so the best path may be lost with a tail that was not kept. Order of the tails:
    the larger weight; fewer tokens; the better rest, by its place in the list where the first token ends;
    the shorter first token. With `top_n` = 1 every such list has one entry, so the rest decides nothing.

    >>> vocabulary, weights = {(0, 1): 5, (1, 0): 6}, {5: 0.25, 6: 0.5}
    >>> [(path, weight / 2**24) for path, weight in encode_top([0, 1, 0], vocabulary, weights, top_n=2)]
    [((0, 6), 0.5), ((5, 0), 0.25)]
    >>> encode_top([], vocabulary, weights, top_n=2)
    [((), 0)]
    """
    tails: dict[int, list[tuple[Path, int]]] = {len(doc): [((), 0)]}
    for start in reversed(range(len(doc))):
        candidates = []
        for token, end in matches(doc, start, vocabulary):
            for place, (tail, _) in enumerate(tails[end]):
                path = (token, *tail)
                weight = path_weight(path, weights)
                candidates.append((-weight, len(path), place, end, path))
        candidates.sort()
        tails[start] = [(path, -minus_weight) for minus_weight, _, _, _, path in candidates[:top_n]]
    return tails[0]


def encode_shortest(doc: list[int], vocabulary: Vocabulary, weights: dict[int, float]) -> Path:
    """The path of fewest tokens.

    Among equals the larger sum of `fixed(weight, 1)` over all tokens of the path, repeated ones
    included; then, decided from the end of the document at every position, the longest first token.

    >>> encode_shortest([0, 1, 0], {(0, 1): 5, (1, 0): 6}, {})
    (5, 0)
    >>> encode_shortest([0, 1, 0], {(0, 1): 5, (1, 0): 6}, {6: 0.5})
    (0, 6)
    """
    tails: dict[int, tuple[Path, int]] = {len(doc): ((), 0)}
    for start in reversed(range(len(doc))):
        candidates = []
        for token, end in matches(doc, start, vocabulary):
            tail, tail_sum = tails[end]
            path = (token, *tail)
            path_sum = fixed(weights.get(token, 0.0), 1) + tail_sum
            candidates.append((len(path), -path_sum, -end, path))
        _, minus_sum, _, path = min(candidates)
        tails[start] = (path, -minus_sum)
    return tails[0][0]


def encode_additive(doc: list[int], vocabulary: Vocabulary, weights: dict[int, float]) -> Path:
    """The path of the largest sum of weights over all its tokens, each rounded to units of 2**-24.

    Among equals fewer tokens; then, decided from the end of the document at every position, the longest first token.

    >>> encode_additive([0, 1, 0], {(0, 1): 5, (1, 0): 6}, {0: 0.5, 5: -0.5, 6: -0.25})
    (0, 1, 0)
    >>> encode_additive([0, 1, 0], {(0, 1): 5, (1, 0): 6}, {})
    (5, 0)
    """
    tails: dict[int, tuple[Path, int]] = {len(doc): ((), 0)}
    for start in reversed(range(len(doc))):
        candidates = []
        for token, end in matches(doc, start, vocabulary):
            tail, tail_sum = tails[end]
            path = (token, *tail)
            path_sum = fixed(weights.get(token, 0.0), 1) + tail_sum
            candidates.append((-path_sum, len(path), -end, path))
        minus_sum, _, _, path = min(candidates)
        tails[start] = (path, -minus_sum)
    return tails[0][0]


def encode_forward(doc: list[int], vocabulary: Vocabulary, scores: dict[int, float], single: bool = True) -> Path:
    """The path of the largest sum of scores as sentencepiece finds it: from the beginning, in float32.

    Of equal sums the one whose last token is the longest, decided at every position. Where a sum is beyond 100,000 it is
    subtracted from all that are known there and behind. Without `single` sums are in float64, as tokenizers has it, and stay.

    >>> encode_forward([0, 1, 0], {(0, 1): 2, (1, 0): 3}, {0: -3.0, 1: -3.0, 2: -2.0, 3: -2.0})
    (0, 3)
    """

    def rounded(value: float) -> float:  # of sums of two that are float32, as adding them in float32
        return float(ctypes.c_float(value).value) if single else value

    heads: list[tuple[Path, float] | None] = [((), 0.0), *[None] * len(doc)]
    for start in range(len(doc)):
        path, here = heads[start] or ((), 0.0)
        if single and abs(here) > 100_000:
            heads[start:] = [head and (head[0], rounded(head[1] - here)) for head in heads[start:]]
            here = 0.0
        for token, stop in sorted(matches(doc, start, vocabulary), key=lambda match: match[1]):
            total, known = rounded(here + rounded(scores[token])), heads[stop]
            if known is None or total > known[1]:
                heads[stop] = (*path, token), total
    found = heads[-1]
    assert found is not None
    return found[0]


def k_best_paths(doc: list[int], vocabulary: Vocabulary, weights: dict[int, float], objective: str, k: int) -> list[Path]:
    """The k best paths by "shortest" or "additive", found by trying all.

    Ties that go on behind the second criterion: the longer first token, then the longer second one, and so on.

    >>> k_best_paths([0, 1, 0], {(0, 1): 5, (1, 0): 6}, {6: 0.5}, "shortest", 3)
    [(0, 6), (5, 0), (0, 1, 0)]
    """

    def key(cut: list[tuple[int, int]]) -> tuple[int, int, list[int]]:
        total = sum(fixed(weights.get(token, 0.0), 1) for token, _ in cut)
        costs = (len(cut), -total) if objective == "shortest" else (-total, len(cut))
        return *costs, [-end for _, end in cut]

    cuts = sorted(all_cuts(doc, vocabulary), key=key)
    return [tuple(token for token, _ in cut) for cut in cuts[:k]]
