"""Encoding by substitution of pairs (BPE, UBPEClassic): the tables that the kernels need, and their drivers over documents."""

from __future__ import annotations

from functools import partial

import numpy as np

from ubpe_numba.coding import run
from ubpe_numba.coding.kernels import incremental, linear_bpe, merge_by_pass
from ubpe_numba.coding.kernels.linear_bpe import MOST_OF_RUN, RUN_HEAD, RankTables
from ubpe_numba.coding.kernels.merge_by_heap import merge_by_heap
from ubpe_numba.coding.kernels.merge_by_pass import PairTables
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.runtime.arrays import writable
from ubpe_numba.runtime.lazy import cached_property
from ubpe_numba.runtime.tables.trie import EDGE
from ubpe_numba.vocabulary.vocabulary import Vocabulary


class PairEncoder:
    """Encoding by substitution of pairs, in order of rank or, with `batch`, by the articles' batch rule.

    In order of creation and by rank there is a `linear` search without any merging (kernels/linear_bpe.py). With `one_by_one`
    ranks out of order count after every single merge (kernels/merge_by_heap.py); otherwise all places of a pair are merged first
    (kernels/merge_by_pass.py, which explains `conflicts`). `lengths` int64[V]: symbols of every token. Tables are built when they
    are first needed, since text has tables of its own (word_encoder.py), and only read afterwards: threads may share an encoder.

    >>> encoder = PairEncoder(Vocabulary.from_merges(2, [[0, 1], [2, 0]]), batch=False)
    >>> encoder.encode(Ragged.from_lists([[0, 1, 0], [1, 0]]), None).to_lists()
    [[3], [1, 0]]
    """

    def __init__(self, vocabulary: Vocabulary, batch: bool, one_by_one: bool = False) -> None:
        assert vocabulary.merges is not None  # the caller has checked that
        n, m = vocabulary.n_alphabet, vocabulary.n_learned
        self.vocabulary, self.batch, self.lengths = vocabulary, batch, np.diff(vocabulary.offsets)
        self.linear = vocabulary.in_order_of_creation and not batch
        self.one_by_one = one_by_one and not self.linear
        if not self.linear:
            self.conflicts = np.empty(m, np.int32)
            merge_by_pass.build_tables(tuple(self.merges), np.full(n + m, m, np.int32), self.conflicts)

    @cached_property
    def merges(self) -> PairTables:
        """The pairs, and the ids that they make."""
        if self.linear:
            return PairTables(*self.tables[:4])
        vocabulary = self.vocabulary
        assert vocabulary.merges is not None
        left, right = vocabulary.merges.T.copy()
        return PairTables(_empty(vocabulary.n_learned), left, right, vocabulary.n_alphabet)

    @cached_property
    def tables(self) -> RankTables:
        """The tables of the linear search."""
        vocabulary = self.vocabulary
        assert vocabulary.merges is not None
        n, size = vocabulary.n_alphabet, self.lengths.size
        left, right = vocabulary.merges.T.copy()
        edges = int(self.lengths[right].sum())
        prefixes = np.empty(size, np.int32)
        tables = RankTables(_empty(size - n), left, right, n, _empty(edges).view(EDGE), prefixes, self.lengths)
        scratch = np.empty(size, np.uint8), np.empty(size, np.int64), np.empty(n + edges, np.int64), np.empty(n + edges, np.int32)
        linear_bpe.build_tables(writable(vocabulary.arena), tuple(tables), *scratch)
        return tables

    def encode(self, documents: Ragged, n_threads: int | None) -> Ragged:
        """Encode documents of alphabet ids; the same for any number of threads. Giant ones go in blocks where that is exact."""
        blocks = run.blocks_of(documents.offsets, n_threads) if self.linear else None
        if blocks is None:
            return run.over_documents(self.bound, documents, n_threads)

        def encode(text: np.ndarray) -> np.ndarray:
            return run.over_documents(self.bound, Ragged._trusted(text, np.array([0, text.size])), 1).values

        parts = run.over_documents(self.bound, Ragged._trusted(documents.values, blocks.offsets), n_threads)
        return run.join(encode, documents, blocks, parts, self.lengths)

    def encode_dropout(self, documents: Ragged, dropout: float, seed: int, n_threads: int | None) -> Ragged:
        """Encode by rank, leaving out each occurrence of a merge with the probability `dropout`.

        `seed`, in 0..2**64 - 1, and the number of a document decide what is left out, whatever the number of threads.
        """
        return run.over_documents(partial(self._by_heap, dropout, seed), documents, n_threads)

    def last_tokens(self, document: np.ndarray, before: int) -> np.ndarray:
        """The last token of the encoding of every prefix of a stretch after the token `before`, int32[n + 1].

        See kernels/incremental.py; `before` is -1 at the beginning of a text. Of a linear search only.
        """
        last = np.empty(document.size + 1, np.int32)
        incremental.last_tokens(document, before, tuple(self.tables), last)
        return last

    def bound(self, longest: int, out: np.ndarray, out_offsets: np.ndarray, first: int = 0) -> run.Bounded:
        """The kernel and its arguments; a `run.Bound`."""
        if self.linear:
            notes = np.empty(RUN_HEAD + max(1, min(longest, MOST_OF_RUN)), np.int64)
            return linear_bpe.encode_rank, (tuple(self.tables), np.empty((longest >> 3) + 1, np.uint8), notes, out, out_offsets)
        if self.one_by_one:
            return self._by_heap(0.0, 0, longest, out, out_offsets, first)
        return merge_by_pass.encode_pairs, (tuple(self.merges), self.conflicts, self.batch, out, out_offsets)

    def _by_heap(
        self, dropout: float, seed: int, longest: int, out: np.ndarray, out_offsets: np.ndarray, first: int
    ) -> run.Bounded:
        links, heap = np.empty((5, longest), np.int32), np.empty(3 * longest, np.int64)
        draws = first, tuple(self.merges), self.one_by_one, dropout, np.uint64(seed)
        return merge_by_heap, (*draws, links, heap, out, out_offsets)


def _empty(n: int) -> np.ndarray:
    """An empty hash table of n keys: int64[2 * capacity], keys and values side by side, at most half full."""
    return np.full(4 << max(4, n.bit_length()), -1, np.int64)
