"""Encoding: batch drivers over documents of alphabet ids, and the tables that their kernels need.

Two encoders: `PairEncoder` substitutes pairs (BPE, UBPEClassic), `PathEncoder` searches the lattice of all segmentations (UBPE).
Both are built once from a vocabulary and only read afterwards, so that threads may share them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ubpe_numba import _threads
from ubpe_numba._arrays import writable
from ubpe_numba.kernels import automaton, lattice, pair_encode, rank_encode, shortest, trie
from ubpe_numba.kernels.pairtable import EMPTY
from ubpe_numba.kernels.pairtable import enter as enter_pairs
from ubpe_numba.ragged import Ragged
from ubpe_numba.vocabulary import Vocabulary

SCALE = 2.0**24  # fixed point of path weights

_Kernel = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], int]


class PairEncoder:
    """Encoding by substitution of pairs, in order of rank or by the articles' batch rule.

    In order of creation and by rank there is a linear search without any merging; every other case goes through the linked
    list of pairs. The vocabulary has to know pairs.
    """

    def __init__(self, vocabulary: Vocabulary, batch: bool) -> None:
        assert vocabulary.merges is not None  # Tokenizer._set sees to that
        n, m = vocabulary.n_alphabet, vocabulary.n_learned
        self.vocabulary = vocabulary
        arena, offsets = writable(vocabulary.arena), writable(vocabulary.offsets)
        self.left = vocabulary.merges[:, 0].copy()
        self.right = vocabulary.merges[:, 1].copy()
        self.pairs = np.full(4 << max(4, m.bit_length()), EMPTY, np.int64)
        enter_pairs(self.left, self.right, n, self.pairs)
        self.batch = batch
        self.linear = vocabulary.in_order_of_creation and not batch
        if self.linear:
            self.trie = np.full(_capacity(vocabulary), -1, np.int64)
            trie.build(n, arena, offsets, self.trie)
            self.lengths = np.diff(vocabulary.offsets)
            self.stable = np.empty(n + m, np.uint8)
            rank_encode.stable_tokens(self.pairs, self.left, self.right, n, self.stable)
            # a later duplicate of a token hides it in the trie: enter the stable ones last
            rank_encode.prefer_stable(self.trie, arena, offsets, n, self.stable)
            self.prefixes = np.empty(n + m, np.int32)
            rank_encode.stable_prefixes(self.trie, arena, offsets, n, self.stable, self.prefixes)
        else:
            self.conflicts = np.empty(m, np.int32)
            pair_encode.next_conflicts(self.left, self.right, n + m, self.conflicts)

    def encode(self, documents: Ragged, n_threads: int | None) -> Ragged:
        """Encode documents of alphabet ids; the same for any number of threads."""
        return _over_documents(self._linear if self.linear else self._by_pairs, documents, n_threads)

    def _linear(self, symbols: np.ndarray, offsets: np.ndarray, out: np.ndarray, out_offsets: np.ndarray) -> int:
        n = rank_encode.encode_rank(
            symbols, offsets, self.pairs, self.left, self.right, self.vocabulary.n_alphabet, self.trie,
            self.stable, self.prefixes, self.lengths, out, out_offsets,
        )  # fmt: skip
        return int(n)

    def _by_pairs(self, symbols: np.ndarray, offsets: np.ndarray, out: np.ndarray, out_offsets: np.ndarray) -> int:
        n = pair_encode.encode_pairs(
            symbols, offsets, self.pairs, self.left, self.right, self.vocabulary.n_alphabet, self.conflicts,
            self.batch, out, out_offsets,
        )  # fmt: skip
        return int(n)


class PathEncoder:
    """Encoding by the best path: by tf-idf, or of fewest tokens."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        arena, offsets = writable(vocabulary.arena), writable(vocabulary.offsets)
        self.edges = np.full(_capacity(vocabulary), -1, np.int64)
        self.longest = int(np.diff(vocabulary.offsets).max())
        states, order = np.empty((arena.size, 4), np.int32), np.empty(arena.size, np.int32)
        ends = np.zeros(self.longest + 2, np.int64)
        n_states = automaton.build(vocabulary.n_alphabet, arena, offsets, self.edges, states, order, ends)
        self.states = states[:n_states].copy()
        self.scaled_idf = vocabulary.weights * SCALE
        self.values = np.rint(self.scaled_idf)
        #: Whether any token weighs anything.
        self.weighs = bool(vocabulary.weights.any())
        self.logs = np.array([0.0] + [1.0 + math.log(c) for c in range(1, 4096)])

    def encode(self, documents: Ragged, objective: str, n_threads: int | None) -> Ragged:
        """Encode documents of alphabet ids; the same for any number of threads."""
        return _over_documents(self._shortest if objective == "shortest" else self._tfidf, documents, n_threads)

    def _tfidf(self, symbols: np.ndarray, offsets: np.ndarray, out: np.ndarray, out_offsets: np.ndarray) -> int:
        weights = np.empty(offsets.size - 1)
        ring, size = 1 << (self.longest + 1).bit_length(), self.scaled_idf.size
        tree = np.empty((4, int(np.diff(offsets).max(initial=0)) + 1), np.int32)
        n = lattice.best_paths(
            symbols, offsets, self.edges, self.states, self.scaled_idf, self.logs,
            np.zeros(ring), np.zeros(ring, np.int32), tree, np.zeros((2, size), np.int32), np.full(size, -1, np.int64),
            out, out_offsets, weights,
        )  # fmt: skip
        return int(n)

    def _shortest(self, symbols: np.ndarray, offsets: np.ndarray, out: np.ndarray, out_offsets: np.ndarray) -> int:
        return int(shortest.shortest_paths(symbols, offsets, self.edges, self.states, self.values, out, out_offsets))


def _capacity(vocabulary: Vocabulary) -> int:
    """Size of a hash table, key and value side by side, for every symbol of the learned tokens at half load."""
    learned = int(vocabulary.offsets[-1]) - vocabulary.n_alphabet
    return 4 << max(4, learned.bit_length())


def _over_documents(kernel: _Kernel, documents: Ragged, n_threads: int | None) -> Ragged:
    """Run a kernel over the documents, cut into chunks for the threads, and join what it writes."""

    def one(begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        offsets = documents.offsets[begin : end + 1]
        out = np.empty(offsets[-1] - offsets[0], np.int32)
        out_offsets = np.empty(offsets.size, np.int64)
        n = kernel(documents.values, offsets, out, out_offsets)
        return out[:n], out_offsets

    parts = _threads.run(one, _threads.chunks_of(documents.offsets, n_threads), n_threads, documents.values.size)
    if len(parts) == 1:
        values, offsets = parts[0]
        # most of a long buffer is not used: give it back
        return Ragged._trusted(values.copy() if values.size < documents.values.size // 2 else values, offsets)
    values = np.concatenate([part for part, _ in parts])
    starts = np.cumsum([0] + [part.size for part, _ in parts])
    shifted = [part_offsets[:-1] + start for (_, part_offsets), start in zip(parts, starts[:-1], strict=True)]
    return Ragged._trusted(values, np.concatenate([*shifted, starts[-1:]]))
