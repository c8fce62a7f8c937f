"""Motifs of a signal: which say most, which to show so that they differ, and their occurrences in context."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.vocabulary.vocabulary import Vocabulary


def evenly(n: int, most: int) -> NDArray[np.int64]:
    """At most `most` of 0..n - 1 at even distances, the first and the last among them.

    >>> evenly(9, 3).tolist(), evenly(2, 3).tolist()
    ([0, 4, 8], [0, 1])
    """
    return np.linspace(0, n - 1, min(n, most)).round().astype(np.int64)


def contexts_of(
    values: NDArray[np.float64],
    offsets: NDArray[np.int64],
    documents: NDArray[np.int64],
    starts: NDArray[np.int64],
    length: int,
    side: int,
) -> NDArray[np.float64]:
    """The values of occurrences and of `side` symbols on either side; NaN where the document has not begun or is over.

    `values` (float64[n_values]): documents, one after the other; `offsets` (int64[d + 1]): where each begins; `documents`,
    `starts` (int64[k]): the document of each occurrence, and its first symbol, counted from the beginning of the document;
    `length`: symbols of the motif; `side`: symbols before and after it. Returns float64[k, side + length + side]: a row for each
    occurrence.

    >>> contexts_of(np.array([1.0, 2, 3, 4]), np.array([0, 3, 4]), np.array([0]), np.array([1]), length=2, side=1)
    array([[ 1.,  2.,  3., nan]])
    """
    begins, ends = offsets[documents], offsets[documents + 1]
    at = (begins + starts)[:, None] + np.arange(-side, length + side)
    inside = (at >= begins[:, None]) & (at < ends[:, None])
    return np.where(inside, values[np.clip(at, 0, values.size - 1)], np.nan)


_CANDIDATES = 24  # times as many motifs as are wanted are compared: the others say too little


def says_most(
    ranges: NDArray[np.float64], counts: NDArray[np.int64], lengths: NDArray[np.int64], least: int = 2
) -> NDArray[np.float64]:
    """How much each motif says: its range of values times the tokens that it saves, ``counts * (lengths - 1)``.

    What occurs less often than `least` times says nothing: what occurs once is no motif.

    >>> says_most(np.array([2.0, 9.0, 0.0]), np.array([3, 1, 50]), np.array([4, 9, 8])).tolist()
    [18.0, 0.0, 0.0]
    """
    return ranges * np.where(counts >= least, counts * (lengths - 1), 0)


def ranges_of(vocabulary: Vocabulary, symbols: NDArray[np.float64]) -> NDArray[np.float64]:
    """The range of values of every token, of the values that the arena's symbols represent."""
    begins = vocabulary.offsets[:-1]
    return np.maximum.reduceat(symbols, begins) - np.minimum.reduceat(symbols, begins)


def likeness(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """How alike two shapes are, 0 to 1, wherever they are in time and value: 1 for the same one.

    Their steps, smoothed a little, are laid over one another at every shift; ``2 a.b / (a.a + b.b)`` at the best one. Level parts
    have no steps, so a shape is like itself with a longer rest before it; one of half the height is less like it.

    >>> beat, later = np.array([0.0, 0, 8, 2, 0]), np.array([1.0, 1, 1, 1, 9, 3, 1])
    >>> likeness(beat, later), round(likeness(beat, beat / 2), 2), likeness(beat, np.zeros(4))
    (1.0, 0.8, 0.0)
    """
    steps = [np.convolve(np.diff(np.asarray(shape, np.float64)), (0.25, 0.5, 0.25)) for shape in (a, b)]
    energy = float(steps[0] @ steps[0] + steps[1] @ steps[1])
    if energy == 0.0:
        return 1.0  # both are level
    return max(0.0, 2 * float(np.correlate(steps[0], steps[1], "full").max()) / energy)


def choose_diverse(shapes: list[NDArray[np.float64]], scores: NDArray[np.float64], n: int) -> list[int]:
    """At most `n` indices of shapes: each time the one of the greatest score times how unlike it is to those chosen already.

    The order is that of the scores, so that a gallery begins with what says most.

    >>> beat, wave = np.array([0.0, 9, 0]), np.array([0.0, 1, 2, 3, 3])
    >>> choose_diverse([beat, beat + 1, wave], np.array([9.0, 8, 2]), 2)
    [0, 2]
    """
    left = np.array(scores, np.float64)
    unlike = np.ones(left.size)
    chosen: list[int] = []
    while (
        len(chosen) < n and left.size and (best := int(np.argmax(left * unlike))) not in chosen and left[best] * unlike[best] > 0
    ):
        chosen.append(best)
        unlike = np.minimum(unlike, [1 - likeness(shapes[best], shape) for shape in shapes])
    return sorted(chosen, key=lambda i: -left[i])


def choose_motifs(
    vocabulary: Vocabulary,
    symbols: NDArray[np.float64],
    counts: NDArray[np.int64],
    n: int,
    diverse: bool = True,
    least: int = 2,
) -> NDArray[np.int64]:
    """The tokens to show: of those that say most `n` that differ, or simply the first `n`.

    `vocabulary`: the tokens; `symbols` (float64[s]): the value of every symbol of its arena; `counts` (int64[V]): how often each
    token occurs; `n`: how many to choose; fewer if fewer say anything; `diverse`: whether variations of one shape are passed
    over; `least`: how often a motif must occur. Returns int64[k]: tokens, the one that says most first.
    """
    offsets = vocabulary.offsets
    scores = says_most(ranges_of(vocabulary, symbols), counts, np.diff(offsets), least)
    order = np.argsort(-scores, kind="stable")[: _CANDIDATES * n if diverse else n]
    order = order[scores[order] > 0]
    if diverse:
        shapes = [symbols[offsets[token] : offsets[token + 1]] for token in order.tolist()]
        order = order[choose_diverse(shapes, scores[order], n)]
    return order
