"""Encoding by substitution of pairs (BPE, UBPEClassic): tables of the kernels, and drivers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.coding import run
from ubpe_numba.coding.kernels import linear_bpe, merge_by_pass
from ubpe_numba.coding.kernels.linear_bpe import MOST_OF_RUN, RUN_HEAD, SHORT
from ubpe_numba.coding.kernels.merge_by_heap import merge_by_heap
from ubpe_numba.coding.run import Bounded, Encoder, Header
from ubpe_numba.documents.ragged import Ragged, trusted
from ubpe_numba.runtime.lazy import cached_property
from ubpe_numba.runtime.tables.trie import EDGE
from ubpe_numba.vocabulary.vocabulary import Vocabulary


class ByRank(NamedTuple):
    """The linear search; `backward` bool[V] or None: tokens whose pair is merged from the ends of runs."""

    tables: tuple[Any, ...]
    backward: np.ndarray | None

    def call(self, longest: int, out: np.ndarray, out_offsets: np.ndarray, first: int) -> Bounded:
        """The kernel and its arguments."""
        notes = np.empty(RUN_HEAD + max(SHORT, min(longest, MOST_OF_RUN)), np.int64)
        args = self.tables, np.empty((longest >> 3) + 1, np.uint8), notes, out, out_offsets
        if self.backward is None:
            return linear_bpe.encode_rank, args
        from ubpe_numba.coding.kernels import linear_mirrored  # here only: few models have a mirror

        return linear_mirrored.encode_rank, (*args, self.backward)

    def header(self) -> Header:
        """Without `backward`, which compiled code does not know."""
        pairs, left, right, n, *rest = self.tables
        return Header("by_rank", (pairs, left, right, *rest), n, fixed=8 * (RUN_HEAD + SHORT) + 16, each=9)


class ByHeap(NamedTuple):
    """The merge of the smallest rank at a time; `dropout` and `seed` as for `encode_dropout`."""

    merges: tuple[Any, ...]
    one_by_one: bool
    dropout: float = 0.0
    seed: int = 0

    def call(self, longest: int, out: np.ndarray, out_offsets: np.ndarray, first: int) -> Bounded:
        """The kernel and its arguments."""
        links, heap = np.empty((5, longest), np.int32), np.empty(3 * longest, np.int64)
        seed = np.uint64(self.seed)
        return merge_by_heap, (
            first,
            self.merges,
            self.one_by_one,
            self.dropout,
            seed,
            links,
            heap,
            out,
            out_offsets,
        )

    def header(self) -> Header:
        """One by one and without draws."""
        *tables, n = self.merges
        return Header("by_heap", tuple(tables), n, each=44)


class ByPass(NamedTuple):
    """All places of a pair at a time, or the batch rule of the UBPE articles."""

    merges: tuple[Any, ...]
    conflicts: np.ndarray
    batch: bool

    def call(self, longest: int, out: np.ndarray, out_offsets: np.ndarray, first: int) -> Bounded:
        """The kernel and its arguments."""
        return merge_by_pass.encode_pairs, (*self, out, out_offsets)

    def header(self) -> Header:
        """The header; `most` is 1 for the batch rule of the UBPE articles."""
        *tables, n = self.merges
        return Header("by_pass", (*tables, self.conflicts), n, int(self.batch))


class PairEncoder:
    """Encoding by substitution of pairs: by rank or, with `batch`, by the rule of the UBPE articles.

    In order of creation and by rank there is a `linear` search without any merging (kernels/linear_bpe.py).
    With `one_by_one` ranks out of order count after every single merge (kernels/merge_by_heap.py); otherwise
    all places of a pair are merged first (kernels/merge_by_pass.py, which explains `merges` and `conflicts`).
    `lengths` int64[V]: symbols of every token. Tables are only read once they are built: threads may share an
    encoder. `mirror` int32[V], of tokens, or None: the pair of a token whose mirror is smaller is merged from
    the ends of runs.

    >>> encoder = PairEncoder(Vocabulary.from_merges(2, [[0, 1], [2, 0]]), batch=False)
    >>> encoder.encode(Ragged.from_lists([[0, 1, 0], [1, 0]]), None).to_lists()
    [[3], [1, 0]]
    """

    def __init__(
        self, vocabulary: Vocabulary, batch: bool, one_by_one: bool = False, mirror: np.ndarray | None = None
    ) -> None:
        assert vocabulary.merges is not None  # the caller has checked that
        self.vocabulary, self.batch, self.lengths = vocabulary, batch, np.diff(vocabulary.offsets)
        self.linear = vocabulary.in_order_of_creation and not batch
        self.one_by_one = one_by_one and not self.linear
        self._tables: tuple[Any, ...] | None = None
        self._backward = None if mirror is None else mirror < np.arange(mirror.size)
        if not self.linear:
            n, m = vocabulary.n_alphabet, vocabulary.n_learned
            self.merges = _buckets(m), *vocabulary.merges.T.copy(), n
            self.conflicts = np.empty(m, np.int32)
            merge_by_pass.build_tables(self.merges, np.full(n + m, m, np.int32), self.conflicts)

    @property
    def tables(self) -> tuple[Any, ...]:
        """The tables of the linear search, built when first needed: text has its own (word_encoder.py)."""
        if self._tables is None:
            vocabulary = self.vocabulary
            assert vocabulary.merges is not None
            n, m = vocabulary.n_alphabet, vocabulary.n_learned
            left, right = vocabulary.merges.T.copy()
            edges = int(self.lengths[right].sum())
            pairs = _buckets(m)
            # an empty hash table, keys and values side by side, at most half full
            trie = np.full(4 << max(4, edges.bit_length()), -1, np.int64).view(EDGE)
            tables = pairs, left, right, n, trie, np.empty(n + m, np.int32), self.lengths
            nodes = np.empty(n + edges, np.int64), np.empty(n + edges, np.int32)
            arena = vocabulary.arena.copy()  # kernels are compiled for arrays that can be written to
            scratch = np.empty(n + m, np.uint8), np.empty(n + m, np.int64), *nodes
            if self._backward is None:
                linear_bpe.build_tables(arena, tables, *scratch)
            else:
                from ubpe_numba.coding.kernels import linear_mirrored  # here only: few models have a mirror

                linear_mirrored.build_tables(arena, tables, *scratch, self._backward)
            self._tables = tables
        return self._tables

    @cached_property
    def endings(self) -> tuple[Any, ...]:
        """EDGE and STATE of the tokens that encode to themselves, and the symbols of the longest.

        The automaton reads tokens from their last symbol to their first.
        """
        # here only: documents of integers need it not
        from ubpe_numba.runtime.tables.automaton import automaton_of

        vocabulary, prefixes = self.vocabulary, self.tables[5]
        stable = np.flatnonzero((prefixes >= 0) | (np.arange(prefixes.size) < vocabulary.n_alphabet))
        tokens = trusted(vocabulary.arena, vocabulary.offsets).take(stable)
        first_and_last = np.repeat(tokens.offsets[:-1] + tokens.offsets[1:] - 1, tokens.lengths)
        turned = tokens.values[first_and_last - np.arange(tokens.total)]
        edges, states, _, longest = automaton_of(vocabulary.n_alphabet, turned, tokens.lengths)
        states["token"] = np.append(stable, -1)[states["token"]]
        return edges, states, longest

    def encode(self, documents: Ragged, n_threads: int | None) -> Ragged:
        """Encode documents of alphabet ids; the same for any number of threads.

        A giant document is encoded in blocks if that is exact.
        """
        if not self.linear or (blocks := run.blocks_of(documents._offsets, n_threads)) is None:
            return run.over_documents(self.encoder().call, documents, n_threads)
        from ubpe_numba.coding.join import join  # here only: few documents are so long

        call = self.encoder().call
        parts = run.over_documents(call, trusted(documents.values, blocks[0]), n_threads)
        return join(
            lambda text: run.over_documents(call, trusted(text, np.array([0, text.size])), 1).values,
            documents, blocks, parts, self.lengths,
        )  # fmt: skip

    def encode_dropout(self, documents: Ragged, dropout: float, seed: int, n_threads: int | None) -> Ragged:
        """Encode by rank, leaving out each occurrence of a merge with the probability `dropout`.

        `seed`, in 0..2**64 - 1, and the number of a document decide which merges are left out, whatever the
        number of threads.
        """
        merges = self.tables[:4] if self.linear else self.merges
        return run.over_documents(ByHeap(merges, self.one_by_one, dropout, seed).call, documents, n_threads)

    def encoder(self, n_symbols: int = 0) -> Encoder:
        """The record of the rule, whatever the number of symbols."""
        if self.linear:
            return ByRank(self.tables, self._backward)
        return (
            ByHeap(self.merges, True) if self.one_by_one else ByPass(self.merges, self.conflicts, self.batch)
        )


def _buckets(m: int) -> np.ndarray:
    """An empty table for m pairs (runtime/tables/pairs.py), at most half full.

    Its buckets begin with cache lines.
    """
    size = 4 << max(4, m.bit_length())
    room = np.full(size + 8, -1, np.int64)
    return room[-room.ctypes.data % 64 // 8 :][:size]
