"""Stretches of one array joined in any order: what list views, dictionaries and views of strings are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.runtime.arrays import offsets_of, places_of

__all__ = ["copy_stretches", "gathered"]

_LONG = 64  # from this mean length on, a copy for each stretch is faster than an index for each item
_ITEMS = 1 << 20  # whose indices are in memory at a time


def gathered(
    values: NDArray[Any], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Stretches of `values` side by side, and their int64[n + 1] offsets; a view of `values` where they already are.

    Parameters
    ----------
    values : array
        1-D.
    starts, lengths : int64[n]
        Stretches inside `values`; the start of an empty one may be anywhere.

    Returns
    -------
    values : array
        All stretches.
    offsets : int64[n + 1]
        Where each begins, from 0.

    Examples
    --------
    >>> gathered(np.array([10, 11, 12, 13]), np.array([2, 0, 2]), np.array([2, 0, 1]))
    (array([12, 13, 12]), array([0, 2, 2, 3]))
    """
    offsets = offsets_of(lengths)
    held = np.flatnonzero(lengths)
    if not held.size:
        return values[:0], offsets
    first, ends = starts[held], starts[held] + lengths[held]
    if np.array_equal(first[1:], ends[:-1]):
        return values[first[0] : ends[-1]], offsets
    found = np.empty(offsets[-1], values.dtype)
    copy_stretches(values, first, lengths[held], found, offsets[held])
    return found, offsets


def copy_stretches(
    values: NDArray[Any],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    target: NDArray[Any],
    at: NDArray[np.int64],
) -> None:
    """Copy stretches of `values` into `target`, to the places `at`. No memory but for about a million indices.

    >>> target = np.zeros(3, int)
    >>> copy_stretches(np.arange(10, 14), np.array([2, 0]), np.array([1, 2]), target, np.array([2, 0]))
    >>> target.tolist()
    [10, 11, 12]
    """
    ends = np.cumsum(lengths)
    i = 0
    while i < lengths.size:
        done = int(ends[i - 1]) if i else 0
        j = max(int(np.searchsorted(ends, done + _ITEMS, side="right")), i + 1)
        if int(ends[j - 1]) - done >= _LONG * (j - i):
            for start, n, to in zip(starts[i:j].tolist(), lengths[i:j].tolist(), at[i:j].tolist(), strict=True):
                target[to : to + n] = values[start : start + n]
        else:
            target[places_of(at[i:j], lengths[i:j])] = values[places_of(starts[i:j], lengths[i:j])]
        i = j
