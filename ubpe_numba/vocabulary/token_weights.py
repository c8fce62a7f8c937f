"""Weights of tokens for paths of additive weight: idf, the logarithm of their frequency, or numbers of the user."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import describe
from ubpe_numba.vocabulary.vocabulary import Vocabulary, for_distinct

_LIMIT = 1e6  # largest absolute weight: in fixed point the sum of 500 such weights is still exact


def token_weights(vocabulary: Vocabulary, given: Any) -> np.ndarray:
    """float64[V], the weights that the argument `token_weights` asks for.

    `given` is None or ``"idf"`` (the weights of the vocabulary), ``"log_frequency"`` (see there) or V numbers. Raises TypeError
    for anything but numbers; ValueError for another word, for an array that is not V numbers, or for a number that is not finite
    or beyond ±1e6.
    """
    if given is None or (isinstance(given, str) and given == "idf"):
        return vocabulary.weights
    if isinstance(given, str):
        if given != "log_frequency":
            raise ValueError(f"token_weights: expected 'idf', 'log_frequency' or an array, got {quoted(given)}")
        return log_frequency(token_counts(vocabulary))
    array = np.asarray(given)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"token_weights: expected numbers, got {describe(given)}")
    if array.shape != (len(vocabulary),):
        raise ValueError(f"token_weights: expected {len(vocabulary)} numbers, one for each id, got shape {array.shape}")
    array = array.astype(np.float64)
    if (bad := np.flatnonzero(~(np.abs(array) <= _LIMIT))).size:
        raise ValueError(f"token_weights[{bad[0]}]: expected a number in -1e6..1e6, got {array[bad[0]]}")
    return array


def token_counts(vocabulary: Vocabulary) -> np.ndarray:
    """int64[V], how often each token occurs in the encoding of the corpus, or, if that is not known, when it was merged."""
    return vocabulary.counts if vocabulary.occurrences is None else vocabulary.occurrences


def log_probabilities(vocabulary: Vocabulary) -> np.ndarray:
    """float64[V], the logarithm of each token's probability: as estimated, or else the logarithm of its frequency.

    >>> log_probabilities(Vocabulary.from_merges(1, [[0, 0]], occurrences=[0, 3])).tolist() == [math.log(1 / 5), math.log(4 / 5)]
    True
    """
    known = vocabulary.log_probabilities
    return token_weights(vocabulary, "log_frequency") if known is None else known


def log_frequency(counts: np.ndarray) -> np.ndarray:
    """ln((1 + c) / (V + sum of all counts)) of every count c, float64[V]: at most 0, and nearer to 0 for frequent tokens.

    This is the logarithm of a token's probability with add-one smoothing. A sum of these is the log-probability of a sequence of
    independent tokens, so the segmentation of the largest sum is the most likely one.

    >>> log_frequency(np.array([0, 3])).tolist() == [math.log(1 / 5), math.log(4 / 5)]
    True
    """
    total = counts.size + sum(counts.tolist())  # which does not wrap
    return for_distinct(lambda count: math.log((1 + count) / total), counts)
