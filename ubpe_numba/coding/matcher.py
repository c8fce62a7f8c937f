"""Which tokens start at a position: the tables that kernels look up, each made when it is first needed or when it pays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ubpe_numba.runtime.arrays import writable
from ubpe_numba.runtime.tables import automaton
from ubpe_numba.vocabulary.vocabulary import Vocabulary

_MOST_FOLLOWING = 1 << 21  # states times symbols: 8 MB, beyond which the list of what follows is no faster


class MatchTables(NamedTuple):
    """What kernels look up (runtime/tables/automaton.py); they take it as a plain tuple."""

    edges: np.ndarray  #: EDGE[capacity] and
    states: np.ndarray  #: STATE[n], the automaton
    following: np.ndarray  #: int32[(n + 1) * n_alphabet], the states that follow, or empty
    first: np.ndarray  #: int32[n], where the list of a state begins
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
        self.edges, self.states, self.longest = automaton.automaton_of(self._n_alphabet, arena, lengths)
        size = (self.states.size + 1) * self._n_alphabet
        self._following = np.empty(0, np.int32)
        self._read, self._pays_from = 0, size >> 1 if size <= _MOST_FOLLOWING else 1 << 62  # symbols
        self._lists: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def lists(self) -> tuple[np.ndarray, np.ndarray]:
        """The lists of tokens, `first` and `matches` of `MatchTables`."""
        if self._lists is None:
            self._lists = automaton.matches_of(self._n_alphabet, self.states, self._size)
        return self._lists

    def tables(self, n_symbols: int) -> MatchTables:
        """The tables for `n_symbols` more symbols: the states that follow are listed once many were read."""
        if self._following.size == 0:
            self._read += n_symbols
            if self._read >= self._pays_from:
                self._following = automaton.following_of(self._n_alphabet, self.edges, self.states)
        return MatchTables(self.edges, self.states, self._following, *self.lists)
