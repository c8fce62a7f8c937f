"""Substrings of a text that may become tokens: the edges of the lattice of all segmentations."""

from __future__ import annotations

import copy
import logging

import numpy as np

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.fitting.kernels import substrings as kernels
from ubpe_numba.runtime.arrays import offsets_of, places_of, writable
from ubpe_numba.runtime.tables import automaton
from ubpe_numba.runtime.tables.trie import EDGE

log = logging.getLogger("ubpe_numba")


class Substrings:
    """Candidates for tokens, all of two symbols or more, as edges between the nodes of units.

    A unit of n symbols has n + 1 nodes: one before every symbol, and one at the end. Node p of unit u is
    ``offsets[u] + u + p`` of all. Symbols are edges too, of length 1, which are in no list.

    `values` int32[n] and `offsets` int64[d + 1], from 0 to n, are the units (documents, or distinct words) as
    alphabet ids. `weights` int64[d] is how often each occurs. There are fewer than 2**31 nodes. A candidate
    has at most `longest` symbols (None: any length) and occurs at least `min_count` times, overlapping
    occurrences included. `most_edges` and `most`, both below 2**31, limit edges and candidates: a length that
    would exceed one of them, and all longer lengths, are left out.

    `nodes` int64[d + 1] is the first node of each unit. The edges of node v are ``starts[v] : starts[v +
    1]``, with `starts` int64[N + 1]. `lengths` and `tokens` int32[E] are the symbols of each edge, and its
    candidate. Candidate t is ``values[first[t] : first[t] + length[t]]``, its first occurrence, with `first`
    int64[T] and `length` int32[T]. Shorter candidates are numbered first, equally long ones in the order of
    their first occurrences; the edges of a node are in the same order. `counts` int64[T] is how often each
    occurs, by weight, overlapping occurrences included. `longest` becomes the number of symbols of the
    longest candidate that was searched.
    """

    def __init__(
        self, values: np.ndarray, offsets: np.ndarray, weights: np.ndarray, n_alphabet: int,
        longest: int | None, min_count: int,
        most_edges: int, most: int = 2**31 - 1,
    ) -> None:  # fmt: skip
        self.values, self.offsets, self.weights, self.n_alphabet = (
            writable(values),
            offsets,
            weights,
            n_alphabet,
        )
        self.nodes = offsets + np.arange(offsets.size)
        unit = np.repeat(np.arange(weights.size), np.diff(self.nodes))
        of_node = weights[unit]
        last = np.zeros(unit.size, bool)
        last[self.nodes[1:] - 1] = True
        nodes, numbers = np.flatnonzero(~last).astype(np.int32), self.values
        levels: list[tuple[np.ndarray, np.ndarray]] = []
        first, counted, length = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, np.int32)]
        n_edges = n_tokens = 0
        self.longest = 1
        while self.longest < (longest or 2**31 - 1) and nodes.size:  # one length after the other
            nodes, numbers, counts = _longer(nodes, numbers, of_node, min_count)
            if n_edges + nodes.size > most_edges or n_tokens + counts.size > most:
                message = "candidates of more than %d symbols are left out: %d of %d edges, at most %d of %d"
                log.info(
                    message, self.longest, n_tokens + counts.size, n_edges + nodes.size, most, most_edges
                )
                break
            self.longest += 1
            at = np.empty(counts.size, np.int32)
            at[numbers[::-1]] = nodes[::-1]  # where each is first
            first.append(at - unit[at])
            counted.append(counts)
            length.append(np.full(counts.size, self.longest, np.int32))
            levels.append((nodes, numbers + np.int32(n_tokens)))
            n_edges, n_tokens = n_edges + nodes.size, n_tokens + counts.size
        self.first, self.length, self.counts = (np.concatenate(parts) for parts in (first, length, counted))
        del nodes, numbers, of_node, unit, last
        # edges of all lengths are sorted by node; `levels` is emptied on the way, so that its memory is free
        # again
        per_node = np.zeros(int(self.nodes[-1]), np.int64)
        for i in range(len(levels)):  # no name keeps an array alive
            per_node[levels[i][0]] += 1
        self.starts = offsets_of(per_node)
        self.lengths, self.tokens = np.empty(n_edges, np.int32), np.empty(n_edges, np.int32)
        cursors = self.starts[:-1].copy()
        for size in range(2, 2 + len(levels)):
            kernels.add_edges(*levels.pop(0), size, cursors, self.lengths, self.tokens)

    def __len__(self) -> int:
        """The number of candidates."""
        return self.first.size

    def counted(self, weights: np.ndarray) -> np.ndarray:
        """How often each candidate occurs if units have other weights, int64[T]."""
        counts = np.zeros(len(self), np.int64)
        kernels.count_candidates(self.nodes, weights, self.starts, self.tokens, counts)
        return counts

    def extended(self, tokens: Ragged, most_edges: int = 2**62) -> Substrings:
        """These candidates, and after them those of the longer tokens that occur.

        The edges of a node are in the same order.

        MemoryError if there would be more than `most_edges`.
        """
        longer = tokens.take(np.flatnonzero(tokens.lengths > self.longest)).compact()
        if not len(longer):
            return self
        symbols = Ragged(np.arange(self.n_alphabet, dtype=np.int32), np.arange(self.n_alphabet + 1))
        whole, nothing = Ragged.concat([symbols, longer]), np.empty(0, np.int32)
        edges, states, _, _ = automaton.automaton_of(self.n_alphabet, writable(whole.values), whole.lengths)
        of_token = np.arange(-self.n_alphabet, len(longer), dtype=np.int32)  # symbols are below 0: not wanted
        n_edges = np.zeros(self.starts.size - 1, np.int64)
        kernels.find_tokens(
            self.values, self.offsets, edges, states, of_token, True, n_edges, nothing, nothing
        )
        starts = offsets_of(n_edges + np.diff(self.starts))
        if starts[-1] > most_edges:
            raise MemoryError(
                f"memory_limit: tokens have {starts[-1]} places, there is room for {most_edges}"
            )
        lengths, number, cursors = (
            np.empty(starts[-1], np.int32),
            np.empty(starts[-1], np.int32),
            starts[:-1].copy(),
        )
        kernels.copy_edges(self.starts, self.lengths, self.tokens, cursors, lengths, number)
        new = places_of(cursors, n_edges)  # the edges that follow
        kernels.find_tokens(
            self.values, self.offsets, edges, states, of_token, False, cursors, lengths, number
        )
        nodes, of = np.repeat(np.arange(n_edges.size), n_edges), number[new]
        first, length = np.full(len(longer), -1, np.int64), np.zeros(len(longer), np.int32)
        first[of[::-1]] = nodes[::-1]
        length[of] = lengths[new]
        occurs = first >= 0
        number[new] = (np.cumsum(occurs) - 1)[of] + len(self)
        first -= np.searchsorted(self.nodes, first, side="right") - 1
        other = copy.copy(self)
        other.starts, other.lengths, other.tokens = starts, lengths, number
        other.first, other.length = (
            np.append(self.first, first[occurs]),
            np.append(self.length, length[occurs]),
        )
        other.counts = other.counted(self.weights)
        return other

    def sequences(self, chosen: np.ndarray) -> Ragged:
        """The symbols of candidates, by their numbers."""
        lengths = self.length[chosen].astype(np.int64)
        offsets = offsets_of(lengths)
        at = np.repeat(self.first[chosen] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return Ragged(self.values[at], offsets)


def _longer(
    nodes: np.ndarray, numbers: np.ndarray, weights: np.ndarray, min_count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The frequent substrings that are one symbol longer: nodes, numbers, and counts."""
    table = np.full(4 << nodes.size.bit_length(), -1, np.int64).view(EDGE)
    longer, counts = np.empty(nodes.size, np.int32), np.zeros(nodes.size, np.int64)
    k = kernels.count_longer(nodes, numbers, weights, table, longer, counts)
    often = counts[:k] >= min_count
    number = np.append(np.where(often, np.cumsum(often) - 1, -1), -1).astype(np.int32)
    longer = number[longer]
    stay = longer >= 0
    return nodes[stay], longer[stay], counts[:k][often]
