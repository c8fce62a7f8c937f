"""Encoding: batch drivers over documents of alphabet ids, and the tables that their kernels need.

Two encoders: `PairEncoder` substitutes pairs (BPE, UBPEClassic), `PathEncoder` searches the lattice of all segmentations (UBPE).
Both are built once from a vocabulary and only read afterwards, so that threads may share them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ubpe_numba import _threads, splice
from ubpe_numba._arrays import writable
from ubpe_numba.kernels import automaton, cheapest, lattice, pair_encode, rank_encode, stream, trie
from ubpe_numba.kernels import dropout as dropout_kernel
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
            self.trie = trie.entries_for(arena.size - n)
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
        if not self.linear:
            return _over_documents(self._by_pairs, documents, n_threads)
        blocks = splice.blocks_of(documents.offsets, n_threads)
        if blocks is None:
            return _over_documents(self._linear, documents, n_threads)

        def encode(text: np.ndarray) -> np.ndarray:
            return _over_documents(self._linear, Ragged._trusted(text, np.array([0, text.size])), 1).values

        parts = _over_documents(self._linear, Ragged._trusted(documents.values, blocks.offsets), n_threads)
        return splice.join(encode, documents, blocks, parts, self.lengths)

    def encode_dropout(self, documents: Ragged, dropout: float, seed: int, n_threads: int | None) -> Ragged:
        """Encode by rank, leaving out each occurrence of a merge with a probability; the same for any number of threads."""

        def kernel_of(first: int) -> _Kernel:
            def call(symbols: np.ndarray, offsets: np.ndarray, out: np.ndarray, out_offsets: np.ndarray) -> int:
                longest = _longest(offsets)
                n = dropout_kernel.encode_dropout(
                    symbols, offsets, first, self.pairs, self.left, self.right, self.vocabulary.n_alphabet, dropout,
                    np.uint64(seed), np.empty((5, longest), np.int32), np.empty(3 * longest, np.int64), out, out_offsets,
                )  # fmt: skip
                return int(n)

            return call

        return _over_chunks(kernel_of, documents, n_threads)

    def last_tokens(self, document: np.ndarray, before: int) -> np.ndarray:
        """The last token of the encoding of every prefix of a stretch behind the token `before`; see kernels/stream.py."""
        last = np.empty(document.size + 1, np.int32)
        stream.last_tokens(
            document, before, self.pairs, self.left, self.right, self.vocabulary.n_alphabet, self.trie, self.stable, last
        )
        return last

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
        return _over_documents(self._tfidf if objective == "tfidf" else self._cheapest(objective), documents, n_threads)

    def _tfidf(self, symbols: np.ndarray, offsets: np.ndarray, out: np.ndarray, out_offsets: np.ndarray) -> int:
        weights = np.empty(offsets.size - 1)
        asked_at = np.empty(self.scaled_idf.size, np.int64)
        asked_at.fill(-1)
        ring, size = 1 << (self.longest + 1).bit_length(), self.scaled_idf.size
        tree = np.empty((5, _longest(offsets) + 1), np.int32)
        n = lattice.best_paths(
            symbols, offsets, self.edges, self.states, self.scaled_idf, self.logs,
            np.zeros(ring), np.zeros(ring, np.int32), tree, np.zeros((2, size), np.int32), asked_at,
            out, out_offsets, weights,
        )  # fmt: skip
        return int(n)

    def _cheapest(self, objective: str) -> _Kernel:
        """The kernel of an objective whose costs add up."""
        costs = self.costs[objective]

        def call(symbols: np.ndarray, offsets: np.ndarray, out: np.ndarray, out_offsets: np.ndarray) -> int:
            sums = np.empty(2 << (self.longest + 1).bit_length())
            tree = np.empty((2, _longest(offsets) + 1), np.int32)
            n = cheapest.cheapest_paths(symbols, offsets, self.edges, self.states, costs.ravel(), sums, tree, out, out_offsets)
            return int(n)

        return call


def _longest(offsets: np.ndarray) -> int:
    """Symbols of the longest document."""
    return int(offsets[1] - offsets[0]) if offsets.size == 2 else int(np.diff(offsets).max(initial=0))


def _over_documents(kernel: _Kernel, documents: Ragged, n_threads: int | None) -> Ragged:
    """Run a kernel over the documents, cut into chunks for the threads, and join what it writes."""
    return _over_chunks(lambda first: kernel, documents, n_threads)


def _over_chunks(kernel_of: Callable[[int], _Kernel], documents: Ragged, n_threads: int | None) -> Ragged:
    """The same for a kernel that depends on the number of the first document of a chunk."""
    size = int(documents.offsets[-1] - documents.offsets[0])
    if documents.offsets.size == 2 and size < _threads.LONG:
        # a loop over short documents should not pay for threads, nor count processors
        _threads.asked_for(n_threads)  # complains
        out, out_offsets = np.empty(size, np.int32), np.empty(2, np.int64)
        n = kernel_of(0)(documents.values, documents.offsets, out, out_offsets)
        return Ragged._trusted(out[:n].copy() if 2 * n < size else out[:n], out_offsets)

    def one(begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        offsets = documents.offsets[begin : end + 1]
        out = np.empty(offsets[-1] - offsets[0], np.int32)
        out_offsets = np.empty(end - begin + 1, np.int64)
        n = kernel_of(begin)(documents.values, offsets, out, out_offsets)
        return out[:n], out_offsets

    parts = _threads.run(one, _threads.chunks_of(documents.offsets, n_threads), n_threads, size)
    if len(parts) == 1:
        values, offsets = parts[0]
        # most of a long buffer is not used: give it back
        return Ragged._trusted(values.copy() if values.size < documents.values.size // 2 else values, offsets)
    values = np.concatenate([part for part, _ in parts])
    starts = np.cumsum([0] + [part.size for part, _ in parts])
    shifted = [part_offsets[:-1] + start for (_, part_offsets), start in zip(parts, starts[:-1], strict=True)]
    return Ragged._trusted(values, np.concatenate([*shifted, starts[-1:]]))
