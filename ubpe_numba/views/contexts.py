"""Occurrences of a motif with what stands before and behind them, never of another document."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["contexts_of", "evenly"]


def evenly(n: int, most: int) -> NDArray[np.int64]:
    """At most `most` of 0..n - 1 at even distances, the first and the last among them.

    >>> evenly(9, 3).tolist(), evenly(2, 3).tolist()
    ([0, 4, 8], [0, 1])
    """
    if n <= most:
        return np.arange(n)
    return np.linspace(0, n - 1, most).round().astype(np.int64)


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
    `length`: symbols of the motif; `side`: symbols before and behind it. Returns float64[k, side + length + side]: a row for each
    occurrence.

    >>> contexts_of(np.array([1.0, 2, 3, 4]), np.array([0, 3, 4]), np.array([0]), np.array([1]), length=2, side=1)
    array([[ 1.,  2.,  3., nan]])
    """
    begins, ends = offsets[documents], offsets[documents + 1]
    at = (begins + starts)[:, None] + np.arange(-side, length + side)
    inside = (at >= begins[:, None]) & (at < ends[:, None])
    if not values.size:
        return np.full(at.shape, np.nan)
    return np.where(inside, values[np.clip(at, 0, values.size - 1)], np.nan)
