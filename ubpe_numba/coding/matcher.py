"""Which tokens start at a position: the tables that kernels look up, each made when it is first needed or when it pays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ubpe_numba.runtime.arrays import writable
from ubpe_numba.runtime.tables import automaton
from ubpe_numba.vocabulary.vocabulary import Vocabulary

_MOST_FOLLOWING = 1 << 21  # states that follow: 8 MB, beyond which their list is no faster


class MatchTables(NamedTuple):
    """What kernels look up (runtime/tables/automaton.py); they take it as a plain tuple."""

    edges: np.ndarray  #: EDGE[capacity] and
    states: np.ndarray  #: STATE[n], the automaton
    listed: np.ndarray  #: LISTED[n + 1], of each state its list of tokens and its row
    owners: np.ndarray  #: int32[n_rows], whose rows they are
    rows: np.ndarray  #: int32[n_rows * n_alphabet], states that follow, or empty
    matches: np.ndarray  #: MATCH[m], the lists


class Matcher:
    """The tokens of a vocabulary that start at each position, read from the end. Threads may share one.

    Parameters
    ----------
    vocabulary : Vocabulary
        With pairs or without.
    mirrored : bool
        For the tokens that end at each position, read from the beginning, instead.

    Attributes
    ----------
    edges, states
        The automaton.
    longest : int
        Symbols of the longest token.

    Examples
    --------
    >>> matcher = Matcher(Vocabulary.from_merges(2, [[0, 1]]))
    >>> matcher.tables(0).matches["token"].tolist()
    [0, 1, 2, 0]
    """

    def __init__(self, vocabulary: Vocabulary, mirrored: bool = False) -> None:
        arena, lengths = writable(vocabulary.arena), np.diff(vocabulary.offsets)
        if mirrored:
            arena = arena[np.repeat(vocabulary.offsets[:-1] + vocabulary.offsets[1:] - 1, lengths) - np.arange(arena.size)]
        self._n_alphabet, self._size = vocabulary.n_alphabet, arena.size
        self.edges, self.states, self._order, self.longest = automaton.automaton_of(self._n_alphabet, arena, lengths)
        self._read = 0
        self._following: tuple[np.ndarray, np.ndarray] | None = None
        self._lists: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    @property
    def matches(self) -> np.ndarray:
        """MATCH[m], the lists of tokens; what tokens cost is laid out beside them."""
        return self._listed()[2]

    def _listed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if self._lists is None:
            self._lists = automaton.lists_of(self._n_alphabet, self.edges, self.states, self._order, self._size)
        return self._lists

    def tables(self, n_symbols: int) -> MatchTables:
        """The tables for `n_symbols` more symbols: the states that follow are listed once many were read."""
        listed, owners, matches = self._listed()
        if self._following is None and (size := owners.size * self._n_alphabet) <= _MOST_FOLLOWING:
            self._read += n_symbols
            if 2 * self._read >= size:
                self._following = automaton.rows_of(self._n_alphabet, self.edges, self.states, self._order, listed, owners)
        placed, rows = self._following or (listed, np.empty(0, np.int32))
        return MatchTables(self.edges, self.states, placed, owners, rows, matches)
