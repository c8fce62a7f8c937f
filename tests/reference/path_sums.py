"""Sums over all segmentations of a document, each weighing the product of what its tokens weigh: every one is looked at."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import prod

from .encode_paths import Path, Vocabulary, all_cuts


def shares(doc: list[int], vocabulary: Vocabulary, weights: list[float]) -> dict[Path, Fraction]:
    """Every path and its probability: its share in the weight of all.

    >>> found = shares([0, 1, 0], {(0, 1): 2}, [0.25, 0.125, 0.5])
    >>> {path: str(share) for path, share in found.items()}
    {(0, 1, 0): '1/17', (2, 0): '16/17'}
    """
    paths = [tuple(token for token, _ in cut) for cut in all_cuts(doc, vocabulary)]
    values = [prod((Fraction(weights[token]) for token in path), start=Fraction(1)) for path in paths]
    return {path: values[i] / sum(values) for i, path in enumerate(paths)}


def weight_of_all(doc: list[int], vocabulary: Vocabulary, weights: list[float]) -> Fraction:
    """What all paths weigh together.

    >>> str(weight_of_all([0, 1, 0], {(0, 1): 2}, [0.25, 0.125, 0.5]))
    '17/128'
    """
    return sum(
        (prod((Fraction(weights[token]) for token, _ in cut), start=Fraction(1)) for cut in all_cuts(doc, vocabulary)),
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
        share = prod((Fraction(weights[token]) for token, _ in cut), start=Fraction(1)) / total
        for begin in [0, *(end for _, end in cut)][: len(cut)]:
            found[begin] += share
    return found
