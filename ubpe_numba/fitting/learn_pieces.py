"""Pieces of words by a criterion of pairs: count, count relative to chance, or likelihood.

The second is how much more often than by chance they occur, the third the gain in likelihood.

By count, no other pair becomes better when a pair is merged; the loop of a fit relies on this (fit.py). By
the other criteria a merge subtracts occurrences from its two parts, and all other pairs with these parts
rise. So this is a separate trainer, for the distinct words of a corpus: every step looks at all pairs. For
the words ab, ac and bc, which occur 5, 1 and 4 times:

    pieces      a 6, b 4, ##b 5, ##c 5                      b inside a word differs from b at its beginning
    count       ab 5, bc 4, ac 1                            the first is ab
    pmi         ab 5/(6*5), bc 4/(4*5), ac 1/(6*5)          count(ab) / (count(a) * count(b)): the first is bc
    likelihood  how far the sum of count * ln(count / all) over the pieces rises by the merge
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

CRITERIA = ("count", "pmi", "likelihood")


def learn_pieces(counts: Mapping[str, int], n: int, criterion: str, min_count: int, prefix: str) -> list[str]:
    """Pieces of words by merges: characters by code point, word-initial first, then merges.

    `counts` are occurrences of each word, `n` the most pieces. `criterion` is one of `CRITERIA`; among
    equals, the pair of the smaller left id wins, then of the smaller right id. Pairs that occur less often
    than `min_count` are not merged. `prefix` marks pieces inside a word. O(merges * pairs). Two ways to merge
    a piece give one piece, as in other trainers.

    >>> learn_pieces({"ab": 5, "ac": 1, "bc": 4}, 6, "count", 2, "##")
    ['a', 'b', '##b', '##c', 'ab', 'bc']
    """
    learner = _Learner(counts, prefix)
    while len(learner.names) < n and (pair := learner.best(criterion, min_count)) >= 0:
        learner.merge(pair)
    return learner.names[:n]


class _Learner:
    """Words in pieces, and counts of pieces and pairs."""

    def __init__(self, counts: Mapping[str, int], prefix: str) -> None:
        self.prefix, self.weights = prefix, list(counts.values())
        pieces = [[word[:1], *(prefix + c for c in word[1:])] for word in counts]
        is_inside = {piece: prefix != "" and i > 0 for word in pieces for i, piece in enumerate(word)}
        self.names = sorted(is_inside, key=lambda piece: (is_inside[piece], piece))
        self.id_of = {name: i for i, name in enumerate(self.names)}
        self.words = [[self.id_of[piece] for piece in word] for word in pieces]
        self.pairs: dict[tuple[int, int], int] = {}
        self.holding: list[set[int]] = []  # the words that hold or held a pair
        self.table = np.zeros((3, 1024), np.int64)  # left, right, count of each pair
        self.tokens = np.zeros(max(1024, 2 * len(self.names)), np.int64)  # count of each piece
        for i in range(len(self.words)):
            self._count(i, self.weights[i])

    def _count(self, i: int, weight: int) -> None:
        """Add a word to the counts, or take it away by a negative weight."""
        word = self.words[i]
        for piece in word:
            self.tokens[piece] += weight
        for pair in pairwise(word):
            at = self.pairs.setdefault(pair, len(self.pairs))
            if at == len(self.holding):
                self.holding.append(set())
                if at == self.table.shape[1]:
                    self.table = np.concatenate([self.table, np.zeros_like(self.table)], axis=1)
                self.table[:2, at] = pair
            self.table[2, at] += weight
            self.holding[at].add(i)

    def best(self, criterion: str, min_count: int) -> int:
        """The number of the best pair, -1 if none is frequent enough."""
        left, right, count = self.table[:, : len(self.pairs)]
        live = np.flatnonzero(count >= min_count)
        if live.size == 0:
            return -1
        left, right, c = left[live], right[live], count[live].astype(np.float64)
        a, b = self.tokens[left].astype(np.float64), self.tokens[right].astype(np.float64)
        score = c
        if criterion == "pmi":
            score = c / (a * b)
        elif criterion == "likelihood":
            total = float(self.tokens.sum())
            parts = np.where(
                left == right,
                _xlogx(a - 2 * c) - _xlogx(a),
                _xlogx(a - c) + _xlogx(b - c) - _xlogx(a) - _xlogx(b),
            )
            score = parts + _xlogx(c) - _xlogx(total - c) + _xlogx(np.array(total))
        best = np.flatnonzero(score == score.max())
        return int(live[best[np.lexsort((right[best], left[best]))[0]]])

    def merge(self, pair: int) -> None:
        """Make one piece of a pair wherever it occurs, from left to right."""
        left, right = self.table[:2, pair].tolist()
        name = self.names[left] + self.names[right].removeprefix(self.prefix)
        new = self.id_of.setdefault(name, len(self.names))
        if new == len(self.names):
            self.names.append(name)
            if new == self.tokens.size:
                self.tokens = np.concatenate([self.tokens, np.zeros_like(self.tokens)])
        for i in sorted(self.holding[pair]):
            self._count(i, -self.weights[i])
            word, merged, at = self.words[i], [], 0
            while at < len(word):
                both = word[at : at + 2] == [left, right]
                merged.append(new if both else word[at])
                at += 2 if both else 1
            self.words[i] = merged
            self._count(i, self.weights[i])
        self.holding[pair] = set()


def _xlogx(x: np.ndarray) -> np.ndarray:
    """X * ln x, 0 for 0 and below."""
    return np.where(x > 0, x * np.log(np.maximum(x, 1e-300)), 0.0)
