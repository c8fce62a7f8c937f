"""Encoding by the best path through the lattice of all segmentations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ubpe_numba.coding.chunks import Kernel, longest_of, over_documents
from ubpe_numba.coding.kernels import best_path, cheapest_path
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.runtime.arrays import writable
from ubpe_numba.runtime.tables import automaton
from ubpe_numba.vocabulary.vocabulary import Vocabulary

SCALE = 2.0**24  # fixed point of path weights


class PathEncoder:
    """Encoding by the best path: by tf-idf, of fewest tokens, or of the largest sum of `weights`, float64[V]."""

    def __init__(self, vocabulary: Vocabulary, weights: np.ndarray | None = None) -> None:
        self.vocabulary = vocabulary
        #: What the user gave as weights, for whoever asks whether they are still the same.
        self.given: Any = None
        arena, offsets = writable(vocabulary.arena), writable(vocabulary.offsets)
        self.edges, self.states, self.longest = automaton.automaton_of(vocabulary.n_alphabet, arena, offsets)
        self.scaled_idf = vocabulary.weights * SCALE
        self.values = np.rint(self.scaled_idf)
        ones = np.ones(len(vocabulary))
        added = vocabulary.weights if weights is None else weights
        #: What a token costs, as a pair compared like words in a dictionary.
        self.costs = {
            "shortest": np.stack([ones, -self.values], axis=1),
            "additive": np.stack([-np.rint(added * SCALE), ones], axis=1),
        }
        #: Whether any token weighs anything.
        self.weighs = bool(vocabulary.weights.any())
        self.logs = np.array([0.0] + [1.0 + math.log(c) for c in range(1, 4096)])

    def encode(self, documents: Ragged, objective: str, n_threads: int | None) -> Ragged:
        """Encode documents of alphabet ids; the same for any number of threads."""
        return over_documents(self._tfidf if objective == "tfidf" else self._cheapest(objective), documents, n_threads)

    def _tfidf(self, symbols: np.ndarray, offsets: np.ndarray, out: np.ndarray, out_offsets: np.ndarray) -> int:
        weights = np.empty(offsets.size - 1)
        asked_at = np.empty(self.scaled_idf.size, np.int64)
        asked_at.fill(-1)
        ring, size = 1 << (self.longest + 1).bit_length(), self.scaled_idf.size
        tree = np.empty((5, longest_of(offsets) + 1), np.int32)
        n = best_path.best_paths(
            symbols, offsets, self.edges, self.states, self.scaled_idf, self.logs,
            np.zeros(ring), np.zeros(ring, np.int32), tree, np.zeros((2, size), np.int32), asked_at,
            out, out_offsets, weights,
        )  # fmt: skip
        return int(n)

    def _cheapest(self, objective: str) -> Kernel:
        """The kernel of an objective whose costs add up."""
        costs = self.costs[objective]

        def call(symbols: np.ndarray, offsets: np.ndarray, out: np.ndarray, out_offsets: np.ndarray) -> int:
            sums = np.empty(2 << (self.longest + 1).bit_length())
            tree = np.empty((2, longest_of(offsets) + 1), np.int32)
            n = cheapest_path.cheapest_paths(
                symbols, offsets, self.edges, self.states, costs.ravel(), sums, tree, out, out_offsets
            )
            return int(n)

        return call
