"""Encoding: batch drivers over documents of alphabet ids, and the tables that their kernels need.

Two encoders: `PairEncoder` substitutes pairs (BPE, UBPEClassic), `PathEncoder` searches the lattice of all segmentations (UBPE).
Both are built once from a vocabulary and only read afterwards, so that threads may share them.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding import giant_document
from ubpe_numba.coding.chunks import Kernel, longest_of, over_chunks, over_documents
from ubpe_numba.coding.kernels import by_pairs, by_rank, final_prefix
from ubpe_numba.coding.kernels import dropout as dropout_kernel
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.runtime.arrays import writable
from ubpe_numba.runtime.tables import trie
from ubpe_numba.runtime.tables.pairs import EMPTY
from ubpe_numba.runtime.tables.pairs import enter as enter_pairs
from ubpe_numba.vocabulary.vocabulary import Vocabulary


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
            by_rank.stable_tokens(self.pairs, self.left, self.right, n, self.stable)
            # a later duplicate of a token hides it in the trie: enter the stable ones last
            by_rank.prefer_stable(self.trie, arena, offsets, n, self.stable)
            self.prefixes = np.empty(n + m, np.int32)
            by_rank.stable_prefixes(self.trie, arena, offsets, n, self.stable, self.prefixes)
        else:
            self.conflicts = np.empty(m, np.int32)
            by_pairs.next_conflicts(self.left, self.right, n + m, self.conflicts)

    def encode(self, documents: Ragged, n_threads: int | None) -> Ragged:
        """Encode documents of alphabet ids; the same for any number of threads."""
        if not self.linear:
            return over_documents(self._by_pairs, documents, n_threads)
        blocks = giant_document.blocks_of(documents.offsets, n_threads)
        if blocks is None:
            return over_documents(self._linear, documents, n_threads)

        def encode(text: np.ndarray) -> np.ndarray:
            return over_documents(self._linear, Ragged._trusted(text, np.array([0, text.size])), 1).values

        parts = over_documents(self._linear, Ragged._trusted(documents.values, blocks.offsets), n_threads)
        return giant_document.join(encode, documents, blocks, parts, self.lengths)

    def encode_dropout(self, documents: Ragged, dropout: float, seed: int, n_threads: int | None) -> Ragged:
        """Encode by rank, leaving out each occurrence of a merge with a probability; the same for any number of threads."""

        def kernel_of(first: int) -> Kernel:
            def call(symbols: np.ndarray, offsets: np.ndarray, out: np.ndarray, out_offsets: np.ndarray) -> int:
                longest = longest_of(offsets)
                n = dropout_kernel.encode_dropout(
                    symbols, offsets, first, self.pairs, self.left, self.right, self.vocabulary.n_alphabet, dropout,
                    np.uint64(seed), np.empty((5, longest), np.int32), np.empty(3 * longest, np.int64), out, out_offsets,
                )  # fmt: skip
                return int(n)

            return call

        return over_chunks(kernel_of, documents, n_threads)

    def last_tokens(self, document: np.ndarray, before: int) -> np.ndarray:
        """The last token of the encoding of every prefix of a stretch behind the token `before`; see kernels/stream.py."""
        last = np.empty(document.size + 1, np.int32)
        final_prefix.last_tokens(
            document, before, self.pairs, self.left, self.right, self.vocabulary.n_alphabet, self.trie, self.stable, last
        )
        return last

    def _linear(self, symbols: np.ndarray, offsets: np.ndarray, out: np.ndarray, out_offsets: np.ndarray) -> int:
        n = by_rank.encode_rank(
            symbols, offsets, self.pairs, self.left, self.right, self.vocabulary.n_alphabet, self.trie,
            self.stable, self.prefixes, self.lengths, out, out_offsets,
        )  # fmt: skip
        return int(n)

    def _by_pairs(self, symbols: np.ndarray, offsets: np.ndarray, out: np.ndarray, out_offsets: np.ndarray) -> int:
        n = by_pairs.encode_pairs(
            symbols, offsets, self.pairs, self.left, self.right, self.vocabulary.n_alphabet, self.conflicts,
            self.batch, out, out_offsets,
        )  # fmt: skip
        return int(n)
