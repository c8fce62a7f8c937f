"""Encoding with flat sequences: every way to cut a document into tokens is a path through it.

`vocabulary` gives the id of a sequence of symbols. A symbol is a token too, whether it is listed as
`(symbol,): symbol` or not. `weights` gives the idf of an id; one that is not listed, as a symbol, weighs 0.
A path is a tuple of ids; its bag says how often it holds each token. Prices are whole numbers for ids.
"""

import ctypes
import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

Vocabulary = dict[tuple[int, ...], int]
Path = tuple[int, ...]
Found = list[tuple[Path, int]]


def fixed(idf: float, count: int) -> int:
    """Weight of a token that occurs `count` times, idf * (1 + ln count), in units of 2**-24.

    Rounded half to even. The order of the operations matters in the last bit, so it is part of the rule.

    >>> fixed(0.5, 1) == 2**23, fixed(1.0, 3) == round(2**24 * (1 + math.log(3))), fixed(1.0, 0)
    (True, True, 0)
    """
    return round((idf * 2**24) * (1 + math.log(count))) if count else 0


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


def encode_nbest(
    doc: list[int],
    vocabulary: Vocabulary,
    weights: dict[int, float],
    beam: int = 1,
    by_bag: bool = False,
    prices: dict[int, int] | None = None,
) -> Found:
    """Up to `beam` paths with their weights, the best first, searched from the end of the document; by bag, one of each bag.

    At each position only the best `beam` tails are kept and lengthened further. Weights of tokens do not
    simply add up, so the best path may be lost with a tail that was not kept. Order of the tails:
    the larger weight; fewer tokens; the better rest, by its place in the list where the first token ends;
    the shorter first token. With one tail every such list has one entry, so the rest decides nothing.

    >>> vocabulary, weights = {(0, 1): 5, (1, 0): 6}, {5: 0.25, 6: 0.5}
    >>> [(path, weight / 2**24) for path, weight in encode_nbest([0, 1, 0], vocabulary, weights, 2)]
    [((0, 6), 0.5), ((5, 0), 0.25)]
    >>> encode_nbest([0, 1, 0, 1], {(0, 1): 5}, {5: 0.5}, 3, by_bag=True)[1]
    ((0, 1, 5), 8388608)
    """
    tails: dict[int, Found] = {len(doc): [((), 0)]}
    for start in reversed(range(len(doc))):
        candidates = []
        for token, end in matches(doc, start, vocabulary):
            for place, (tail, _) in enumerate(tails[end]):
                path = (token, *tail)
                value = path_weight(path, weights) if prices is None else score(path, weights, prices)
                candidates.append((-value, len(path), place, end, path))
        tails[start] = first_of_each([(path, -minus) for minus, _, _, _, path in sorted(candidates)], by_bag)[
            :beam
        ]
    return tails[0]


def encode(doc: list[int], vocabulary: Vocabulary, weights: dict[int, float], objective: str) -> Path:
    """The path of fewest tokens ("shortest"), or of the largest sum of weights over all its tokens ("additive").

    Weights are rounded to units of 2**-24. Among equals the other of the two costs decides; then, decided
    from the end of the document at every position, the longest first token.

    >>> encode([0, 1, 0], {(0, 1): 5, (1, 0): 6}, {}, "shortest"), encode([0, 1, 0], {(0, 1): 5, (1, 0): 6}, {6: 0.5}, "shortest")
    ((5, 0), (0, 6))
    >>> encode([0, 1, 0], {(0, 1): 5, (1, 0): 6}, {0: 0.5, 5: -0.5, 6: -0.25}, "additive")
    (0, 1, 0)
    """
    tails: dict[int, tuple[int, Path]] = {len(doc): (0, ())}  # the sum of weights, and the path
    for start in reversed(range(len(doc))):
        candidates = []
        for token, end in matches(doc, start, vocabulary):
            total, path = fixed(weights.get(token, 0.0), 1) + tails[end][0], (token, *tails[end][1])
            costs = (len(path), -total) if objective == "shortest" else (-total, len(path))
            candidates.append((costs, -end, total, path))
        tails[start] = min(candidates)[2:]
    return tails[0][1]


def longest_first(doc: list[int], vocabulary: Vocabulary) -> Path:
    """The longest token from the beginning on, then again after it.

    >>> longest_first([0, 1, 0, 1], {(1, 0): 5, (0, 1): 6, (0, 1, 0): 7})
    (7, 1)
    """
    path, start = [], 0
    while start < len(doc):
        token, start = matches(doc, start, vocabulary)[-1]
        path.append(token)
    return tuple(path)


def encode_forward(
    doc: list[int], vocabulary: Vocabulary, scores: dict[int, float], single: bool = True
) -> Path:
    """The path of the largest sum of scores as sentencepiece finds it: from the beginning, in float32.

    Of equal sums the one whose last token is the longest, decided at every position. Where a sum is beyond
    100,000 it is subtracted from all that are known there and behind. Without `single` sums are in float64,
    as tokenizers has it, and stay.

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


def best_of_all(
    doc: list[int],
    vocabulary: Vocabulary,
    weights: dict[int, float],
    n: int,
    objective: str = "tfidf",
    by_bag: bool = False,
) -> Found:
    """The truly n best paths with their weights, found by trying all; by sums of weights ("shortest", "additive") as `encode`.

    By "tfidf": the heavier, then fewer tokens, then the shorter first token, or else the second, and so on.
    By sums ties go to the longer first token.

    >>> best_of_all([0, 1, 0], {(0, 1): 5, (1, 0): 6}, {5: 0.25, 6: 0.5}, 2)
    [((0, 6), 8388608), ((5, 0), 4194304)]
    >>> [path for path, _ in best_of_all([0, 1, 0], {(0, 1): 5, (1, 0): 6}, {6: 0.5}, 3, "shortest")]
    [(0, 6), (5, 0), (0, 1, 0)]
    """
    ordered = []
    for cut in all_cuts(doc, vocabulary):
        path, ends = tuple(token for token, _ in cut), [end for _, end in cut]
        if objective == "tfidf":
            total = path_weight(path, weights)
        else:
            total, ends = sum(fixed(weights.get(token, 0.0), 1) for token in path), [-end for end in ends]
        costs = (len(path), -total) if objective == "shortest" else (-total, len(path))
        ordered.append((costs, ends, path, total))
    return first_of_each([(path, total) for _, _, path, total in sorted(ordered)], by_bag)[:n]


def score(path: Path, weights: dict[int, float], prices: dict[int, int]) -> int:
    """What a beam with prices is ordered by: each occurrence adds what it adds to the weight, but no more than its price.

    >>> score((5, 5), {5: 1.0}, {5: 3})
    6
    """
    total = 0
    for token, count in Counter(path).items():
        idf = weights.get(token, 0.0)
        total += sum(min(prices.get(token, 0), fixed(idf, c + 1) - fixed(idf, c)) for c in range(count))
    return total


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


def first_of_each(found: Found, by_bag: bool) -> Found:
    seen = set()
    first = []
    for path, weight in found:
        bag = tuple(sorted(path)) if by_bag else path
        if bag not in seen:
            seen.add(bag)
            first.append((path, weight))
    return first


def shares(doc: list[int], vocabulary: Vocabulary, weights: list[float]) -> dict[Path, Fraction]:
    """Every path and its probability: its share in the weight of all.

    >>> found = shares([0, 1, 0], {(0, 1): 2}, [0.25, 0.125, 0.5])
    >>> {path: str(share) for path, share in found.items()}
    {(0, 1, 0): '1/17', (2, 0): '16/17'}
    """
    paths = [tuple(token for token, _ in cut) for cut in all_cuts(doc, vocabulary)]
    values = [math.prod((Fraction(weights[token]) for token in path), start=Fraction(1)) for path in paths]
    return {path: values[i] / sum(values) for i, path in enumerate(paths)}


def weight_of_all(doc: list[int], vocabulary: Vocabulary, weights: list[float]) -> Fraction:
    """What all paths weigh together.

    >>> str(weight_of_all([0, 1, 0], {(0, 1): 2}, [0.25, 0.125, 0.5]))
    '17/128'
    """
    return sum(
        (
            math.prod((Fraction(weights[token]) for token, _ in cut), start=Fraction(1))
            for cut in all_cuts(doc, vocabulary)
        ),
        Fraction(0),
    )


def expected_counts(doc: list[int], vocabulary: Vocabulary, weights: list[float]) -> dict[int, Fraction]:
    """How often each token is expected in a path.

    >>> found = expected_counts([0, 1, 0], {(0, 1): 2}, [0.25, 0.125, 0.5])
    >>> {token: str(count) for token, count in sorted(found.items())}
    {0: '18/17', 1: '1/17', 2: '16/17'}
    """
    found: dict[int, Fraction] = {}
    for path, share in shares(doc, vocabulary, weights).items():
        for token, count in Counter(path).items():
            found[token] = found.get(token, Fraction(0)) + count * share
    return found


def boundaries(doc: list[int], vocabulary: Vocabulary, weights: list[float]) -> list[Fraction]:
    """The probability that a token begins at each position.

    >>> [str(share) for share in boundaries([0, 1, 0], {(0, 1): 2}, [0.25, 0.125, 0.5])]
    ['1', '1/17', '1']
    """
    found = [Fraction(0)] * len(doc)
    total = weight_of_all(doc, vocabulary, weights)
    for cut in all_cuts(doc, vocabulary):
        share = math.prod((Fraction(weights[token]) for token, _ in cut), start=Fraction(1)) / total
        for begin in [0, *(end for _, end in cut)][: len(cut)]:
            found[begin] += share
    return found
