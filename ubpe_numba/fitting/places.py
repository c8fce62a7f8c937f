"""Where the candidates of a lower bound occur: all edges of the lattice of all segmentations, within a limit of memory."""

from __future__ import annotations

import itertools
import logging
from typing import NamedTuple

import numpy as np

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.fitting.kernels import occurrences
from ubpe_numba.fitting.substrings import Substrings

log = logging.getLogger("ubpe_numba")

#: Bytes that a node and an edge cost at most while candidates are found, and then in the ascent, where there may be as many
#: candidates as edges.
NODE, EDGE, CANDIDATE = 200, 24, 48
_MOST = 2 << 30  # bytes, where the length of tokens is ours to choose and no limit is given
_PARTS, _PARTS_FROM = 4, 400_000  # parts of the edges, and from how many edges on


def n_edges(lengths: np.ndarray, longest: int) -> int:
    """How many substrings of 2 to `longest` symbols there are in units of these lengths, each place counted.

    >>> n_edges(np.array([4, 1]), 3)
    5
    """
    short, k = np.minimum(lengths, longest), lengths.astype(np.float64)
    return int(((short - 1) * (2 * k - short) / 2).sum())


def lattice_of(
    units: Ragged, weights: np.ndarray, n_alphabet: int, longest: int | None, min_count: int, memory_limit: int | None
) -> Substrings:
    """The candidates as edges; of a length that memory allows, if none is given."""
    limit = memory_limit if memory_limit is not None else _MOST if longest is None else 2**62
    fixed, cap = NODE * (units.total + len(units)), 2**31 - 1 if longest is None else longest
    needed = fixed + (EDGE + CANDIDATE) * n_edges(units.lengths, cap)
    most = 2**62 if needed <= limit else max(0, (limit - fixed) // (EDGE + CANDIDATE))
    found = Substrings(units.values.astype(np.int32, copy=False), units.offsets, weights, n_alphabet, longest, min_count, most)
    if found.longest < cap and is_cut(found):
        if longest is not None or found.longest < 2:
            least = needed if longest is not None else fixed + (EDGE + CANDIDATE) * n_edges(units.lengths, 2)
            raise MemoryError(
                f"memory_limit: tokens of up to {longest or 2} symbols need up to {least / 1e6:.3g} MB for these documents "
                f"({NODE} bytes a symbol, {EDGE + CANDIDATE} a place of a token), the limit is {limit / 1e6:.3g} MB"
            )
        log.info("lower_bound: the bound holds for tokens of up to %d symbols, for which there is memory", found.longest)
    return found


def is_cut(found: Substrings) -> bool:
    """Whether there may be candidates of more than `longest` symbols."""
    if found.longest == 1:
        return bool((np.diff(found.offsets) > 1).any())
    return bool(found.length.size) and int(found.length[-1]) == found.longest


class Places(NamedTuple):
    """Where candidates begin: occurrences of candidate t are ``at[ends[t - 1] : ends[t]]``, nodes; parts of them are `chunks`."""

    ends: np.ndarray  # int64[T]
    at: np.ndarray  # int32[E]
    length: np.ndarray  # int32[T]
    counts: np.ndarray  # int64[T]
    chunks: list[tuple[int, int]]

    @classmethod
    def of(cls, ends: np.ndarray, at: np.ndarray, length: np.ndarray, counts: np.ndarray) -> Places:
        """Chunks have about as many edges each; how many there are depends on the number of edges only."""
        parts = _PARTS if at.size >= _PARTS_FROM else 1
        targets = [at.size * i // parts for i in range(1, parts)]
        cuts = np.unique(np.concatenate([[0], np.searchsorted(ends, targets), [ends.size]])).tolist()
        return cls(ends, at, length, counts, list(itertools.pairwise(cuts)))

    @classmethod
    def in_lattice(cls, found: Substrings) -> Places:
        """Those of all candidates."""
        per_token = np.bincount(found.tokens, minlength=len(found))
        ends, at = np.cumsum(per_token), np.empty(found.tokens.size, np.int32)
        occurrences.sort_by_candidate(found.starts, found.tokens, ends - per_token, at)
        return cls.of(ends, at, found.length, found.counts)

    def take(self, chosen: np.ndarray) -> Places:
        """Those of some candidates, bool[T]."""
        per_token = np.diff(self.ends, prepend=0)
        of = np.repeat(chosen, per_token)
        return Places.of(np.cumsum(per_token[chosen]), self.at[of], self.length[chosen], self.counts[chosen])
