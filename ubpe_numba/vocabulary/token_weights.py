"""What tokens weigh on a path where weights add up: idf, the logarithm of their frequency, or what the user says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ubpe_numba.runtime.arrays import describe
from ubpe_numba.vocabulary.vocabulary import Vocabulary

_LIMIT = 1e6  # of a weight: in fixed point, sums of the weights of 500 such tokens are still exact


def token_weights(vocabulary: Vocabulary, given: Any) -> np.ndarray:
    """float64[V]: for None or ``"idf"`` the idf, for ``"log_frequency"`` see `log_frequency`, else the numbers given.

    TypeError for anything but numbers; ValueError for another word, another number of them than the vocabulary has ids, or one
    that is not finite or beyond 1e6.
    """
    if given is None or (isinstance(given, str) and given == "idf"):
        return vocabulary.weights
    if isinstance(given, str):
        if given != "log_frequency":
            raise ValueError(f"token_weights: expected 'idf', 'log_frequency' or an array, got {given!r}")
        return log_frequency(vocabulary.counts)
    array = np.asarray(given)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"token_weights: expected numbers, got {describe(given)}")
    if array.shape != (len(vocabulary),):
        raise ValueError(f"token_weights: expected {len(vocabulary)} numbers, one for each id, got shape {array.shape}")
    array = array.astype(np.float64)
    if (bad := np.flatnonzero(~(np.abs(array) <= _LIMIT))).size:
        raise ValueError(f"token_weights[{bad[0]}]: expected a number in -1e6..1e6, got {array[bad[0]]}")
    return array


def log_frequency(counts: np.ndarray) -> np.ndarray:
    """ln((1 + c) / (V + sum of c)) of every count c, float64[V]: all below 0, and the nearer to 0 the more frequent.

    The logarithm of a token's probability, smoothed by one, so a sum of them is that of a sequence of independent tokens, and
    the largest sum the likeliest segmentation. By `math.log`, whose last bit is the same on every processor that NumPy's may
    not be, once per distinct count.

    >>> log_frequency(np.array([0, 3])).tolist() == [math.log(1 / 5), math.log(4 / 5)]
    True
    """
    total = counts.size + int(counts.sum())
    values, inverse = np.unique(counts, return_inverse=True)
    return np.array([math.log((1 + c) / total) for c in values.tolist()], np.float64)[inverse]
