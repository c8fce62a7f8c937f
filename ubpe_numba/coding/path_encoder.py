"""Encoding by the best path through the lattice of all segmentations: tables and drivers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ubpe_numba.coding.kernels import best_path, k_best, viterbi, wordpiece
from ubpe_numba.coding.run import Bounded, Encoder, Header, over_documents
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.runtime.arrays import writable
from ubpe_numba.runtime.tables import automaton, trie
from ubpe_numba.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from ubpe_numba.vocabulary.frames import Frames

_MOST_FOLLOWING = 1 << 21  # following states: 8 MB, beyond which their list is as fast


#: Tables of the automaton (runtime/tables/automaton.py): edges EDGE[capacity], states STATE[n]. `listed`
#: LISTED[n + 1] has the list of tokens and the row of each state, and `owners` int32[n_rows] the owners of
#: rows. `rows` int32[n_rows * n_alphabet] are the following states, or empty. The lists are `matches`
#: MATCH[m].
MatchTables = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class Matcher:
    """The tokens of a vocabulary that start at each position, read from the end.

    `mirrored`: those that end there, read from the beginning. `edges`, `states`: the automaton; `longest`:
    symbols of the longest token. Threads may share one.

    >>> matcher = Matcher(Vocabulary.from_merges(2, [[0, 1]]))
    >>> matcher.tables(0)[-1]["token"].tolist()
    [0, 1, 2, 0]
    """

    def __init__(self, vocabulary: Vocabulary, mirrored: bool = False) -> None:
        arena, lengths = writable(vocabulary.arena), np.diff(vocabulary.offsets)
        if mirrored:
            arena = arena[
                np.repeat(vocabulary.offsets[:-1] + vocabulary.offsets[1:] - 1, lengths)
                - np.arange(arena.size)
            ]
        self._n_alphabet, self._size = vocabulary.n_alphabet, arena.size
        self.edges, self.states, self._order, self.longest = automaton.automaton_of(
            self._n_alphabet, arena, lengths
        )
        self._read = 0
        self._following: tuple[np.ndarray, np.ndarray] | None = None
        self._lists: Any = None

    def tables(self, n_symbols: int) -> MatchTables:
        """The tables for `n_symbols` more symbols: the states that follow are listed once many were read."""
        if self._lists is None:
            self._lists = automaton.lists_of(
                self._n_alphabet, self.edges, self.states, self._order, self._size
            )
        listed, owners, matches = self._lists
        if self._following is None and (size := owners.size * self._n_alphabet) <= _MOST_FOLLOWING:
            self._read += n_symbols
            if 2 * self._read >= size:
                self._following = automaton.rows_of(
                    self._n_alphabet, self.edges, self.states, self._order, listed, owners
                )
        placed, rows = self._following or (listed, np.empty(0, np.int32))
        return self.edges, self.states, placed, owners, rows, matches


SCALE = 2.0**24  # fixed point of path weights


_DESKS = 4  # calls by tf-idf at a time that need not clear counts


class ByTfidf(NamedTuple):
    """The objective ``"tfidf"``; fields as those of `PathEncoder`."""

    matches: MatchTables
    scaled_idf: np.ndarray
    logs: np.ndarray
    ring: int

    def call(self, longest: int, out: np.ndarray, out_offsets: np.ndarray, first: int) -> Bounded:
        """The kernel and its arguments."""
        return best_path.best_paths, (
            (*self.matches, self.scaled_idf, self.logs), np.empty(2 * self.ring),
            np.empty(longest + 1, best_path.NODE),
            np.zeros(3 * self.scaled_idf.size, np.int64), out, out_offsets, np.empty(out_offsets.size - 1),
        )  # fmt: skip

    def header(self) -> Header:
        """With desks of counts."""
        desks = np.zeros((1 + _DESKS) * (8 + 3 * self.scaled_idf.size), np.int64)
        tables = *self.matches, self.scaled_idf, self.logs, desks
        return Header("by_tfidf", tables, self.ring, fixed=16 * self.ring + 8, each=best_path.NODE.itemsize)


class Forward(NamedTuple):
    """Sums from the beginning, over the tokens that end at each position, with `scores`.

    `single`: sums in float32.
    """

    matches: MatchTables
    scores: np.ndarray
    single: bool
    ring: int

    def call(self, longest: int, out: np.ndarray, out_offsets: np.ndarray, first: int) -> Bounded:
        """The kernel and its arguments."""
        sums, tree = np.empty(2 * self.ring), np.empty(longest, np.int32)
        return viterbi.forward_paths, (*self.matches, self.scores, self.single, sums, tree, out, out_offsets)

    def header(self) -> Header:
        """The header; `most` is 1 where sums are float32."""
        return Header(
            "by_forward", (*self.matches, self.scores), self.ring, int(self.single), 16 * self.ring, 4
        )


class Cheapest(NamedTuple):
    """Sums from the end, with `costs`.

    The `packed` costs, by matches, are exact for documents of up to `most` symbols.
    """

    matches: MatchTables
    packed: np.ndarray
    most: int
    costs: np.ndarray
    ring: int
    longest: int

    def call(self, longest: int, out: np.ndarray, out_offsets: np.ndarray, first: int) -> Bounded:
        """The kernel and its arguments."""
        if longest <= self.most:
            sums, tree = np.empty(self.ring, np.uint64), np.empty(longest, np.int32)
            return viterbi.packed_paths, (*self.matches, self.packed, sums, tree, out, out_offsets)
        costs, n_kept = np.empty((self.ring, 1), k_best.COST), np.zeros(self.ring, np.int64)
        heads, trees = np.empty((2, self.longest + 1), np.int64), np.empty((2, longest + 1), np.int32)
        return k_best.cheapest_paths, (
            *self.matches[:2],
            self.costs,
            costs,
            n_kept,
            heads,
            *trees,
            out,
            out_offsets,
        )

    def header(self) -> Header:
        """Both costs."""
        tables = *self.matches, self.packed, self.costs
        return Header("by_sums", tables, self.ring, self.most, 40 * self.ring, 8)


class PathEncoder:
    """Encoding by the best path.

    Tables are built once and only read afterwards: threads may share an encoder.

    With `frames`, the vocabulary is that of the frames, for documents that they have marked.

    `weights` float64[V] are for the objective ``"additive"``; None for the idf, kept as `added`. `scaled_idf`
    and `logs` as in kernels/best_path.py. `values` float64[V] are the idf in whole numbers of fixed point.
    `weighs`: whether any token has an idf. `costs`, by objective, are float64[2 * V], two numbers per token
    (kernels/viterbi.py). `ring`, a power of two above `longest` + 1, is the number of tails within reach.
    `marks` int64[V] is a random odd number per token, the same everywhere, by splitmix64 (G. Steele, D. Lea,
    C. Flood, 2014).

    >>> encoder = PathEncoder(Vocabulary.from_merges(2, [[0, 1], [2, 0]], [1.0, 0.25]))
    >>> encoder.encode(Ragged.from_lists([[0, 1, 0, 1]]), "tfidf", None).to_lists()
    [[2, 2]]
    """

    def __init__(
        self, vocabulary: Vocabulary, weights: np.ndarray | None = None, frames: Frames | None = None
    ) -> None:
        if frames is not None:
            vocabulary, weights = frames.vocabulary, None if weights is None else weights[frames.of]
        self.vocabulary = vocabulary
        self.matcher = Matcher(vocabulary)
        self._ids = np.arange(len(vocabulary), dtype=np.int32) if frames is None else frames.first
        if frames is not None:
            tokens = self.matcher.states["token"]
            tokens[:] = np.where(tokens >= 0, frames.first[tokens], -1)
        self.longest = self.matcher.longest
        self.logs = np.array([0.0] + [1.0 + math.log(c) for c in range(1, 4096)])
        self.scaled_idf = vocabulary.weights * SCALE
        self.ring = 1 << (self.longest + 1).bit_length()
        self.values = np.rint(self.scaled_idf)
        ones = np.ones(self.values.size)
        self.added = vocabulary.weights if weights is None else weights
        both = {"shortest": [ones, -self.values], "additive": [-np.rint(self.added * SCALE), ones]}
        self.costs = {objective: np.stack(costs, axis=1).ravel() for objective, costs in both.items()}
        x = np.arange(1, self.values.size + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        self.marks = ((x ^ (x >> np.uint64(31))) | np.uint64(1)).view(np.int64)
        self.weighs = bool(vocabulary.weights.any())
        self.packed: dict[str, tuple[np.ndarray, int]] = {}
        self._trie: Any = None
        self._ends: Any = None

    def encode(self, documents: Ragged, objective: str, n_threads: int | None) -> Ragged:
        """Encode documents of alphabet ids; the same for any number of threads.

        Objectives: ``"tfidf"``; ``"shortest"``, fewest tokens, then the larger sum of idf; ``"additive"``,
        the largest sum of weights; ``"longest"``, greedily the longest token first. ``"sentencepiece"`` and
        ``"tokenizers"`` search from the beginning, as these packages do (kernels/viterbi.py).
        """
        call = (
            self._longest if objective == "longest" else self.encoder(objective, documents.values.size).call
        )
        return over_documents(call, documents, n_threads)

    def weigh(self, paths: Ragged, objective: str) -> np.ndarray:
        """The weights of paths by ``"tfidf"`` or ``"additive"``, float64[m], without fixed point."""
        paths = paths.compact()
        worth, logs = self.vocabulary.weights, self.logs
        if objective == "additive":
            worth, logs = self.added, logs[:0]
        weights, counts = np.empty(len(paths)), np.zeros(self.values.size, np.int32)
        best_path.path_weights(writable(paths.values), paths._offsets, worth.copy(), logs, counts, weights)
        return weights

    def _longest(self, longest: int, out: np.ndarray, out_offsets: np.ndarray, first: int) -> Bounded:
        """The kernel of the longest token from the beginning on, then again after it, and its arguments."""
        if self._trie is None:
            of = self.vocabulary
            self._trie = trie.trie_of(of.n_alphabet, writable(of.arena), np.diff(of.offsets))
        return wordpiece.cut_words, (0, 0, self._trie, self._ids, -1, longest, out, out_offsets)

    def encoder(self, objective: str, n_symbols: int = 0) -> Encoder:
        """The record of an objective, for `n_symbols` more symbols; ``"longest"`` has none."""
        if objective in ("sentencepiece", "tokenizers"):
            # the tokens that end at each position, and their scores, exact and rounded
            if self._ends is None:
                matcher = Matcher(self.vocabulary, mirrored=True)
                scores = self.added.astype(np.float64)[matcher.tables(0)[-1]["token"]]
                self._ends = matcher, scores, scores.astype(np.float32).astype(np.float64)
            single = objective == "sentencepiece"
            matcher, exact, rounded = self._ends
            return Forward(matcher.tables(n_symbols), rounded if single else exact, single, self.ring)
        tables = self.matcher.tables(n_symbols)
        if objective == "tfidf":
            return ByTfidf(tables, self.scaled_idf, self.logs, self.ring)
        costs = self.costs[objective]
        if objective not in self.packed:
            packed, most = viterbi.pack(costs[::2], costs[1::2], self.longest)
            self.packed[objective] = packed[tables[-1]["token"]], most
        return Cheapest(tables, *self.packed[objective], costs, self.ring, self.longest)
