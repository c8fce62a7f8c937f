"""The record of a fit, merge by merge."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.runtime.schema import check_fields, integers_of
from ubpe_numba.vocabulary.vocabulary import Vocabulary


class History(NamedTuple):
    """The m merges of a fit in order of creation; all counts are weighted if documents have weights."""

    counts: np.ndarray  # int64[m]: occurrences of the pair when it was merged
    document_frequencies: np.ndarray  # int64[m]: documents that held it then
    lengths: np.ndarray  # int64[m]: tokens of the corpus after the merge
    n_symbols: np.ndarray  # int64[m]: symbols of the corpus, which `fit_more` may have changed
    last_round: int  # index of the first merge of the last round

    def __repr__(self) -> str:
        return (
            f"History of {self.counts.size} merges: counts, document_frequencies, lengths, n_symbols, "
            "last_round"
        )

    def compression(self, n_alphabet: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """How far the corpus was compressed at each size of the vocabulary.

        Returns sizes, int64[m + 1], and symbols per token at each, float64[m + 1]. `n_alphabet`: the size of
        the vocabulary before the first merge, such as ``tok.vocabulary.n_alphabet``; 0 counts merges.

        >>> h = History(np.array([3]), np.array([1]), np.array([4]), np.array([7]), 0)
        >>> h.compression(5)
        (array([5, 6]), array([1.  , 1.75]))
        """
        sizes = n_alphabet + np.arange(self.lengths.size + 1)
        return sizes, np.concatenate([[1.0], self.n_symbols / np.maximum(self.lengths, 1)])

    def first(self, m: int) -> History:
        """The history of the first m merges, as of a shorter fit, except for the start of its last round.

        Earlier rounds than the last are not known: if that began later, the last round of the result is
        empty.

        >>> h = History(np.array([3, 2]), np.array([1, 1]), np.array([4, 2]), np.array([7, 7]), 1)
        >>> h.first(1).lengths.tolist(), h.first(1).last_round
        ([4], 1)
        """
        return History._make((*(array[:m] for array in self[:4]), min(self.last_round, m)))

    def state(self, vocabulary: Vocabulary) -> dict[str, Any]:
        """State for a model file, in addition to the vocabulary: plain data and arrays.

        ``lengths`` is int64[m]. ``corpora`` are pairs, in order: a number of merges, and the symbols of the
        corpus that they were learned on. ``last_round`` follows. ``counts`` and ``document_frequencies`` are
        included unless they are those of the vocabulary.

        >>> v = Vocabulary.from_merges(1, [[0, 0], [1, 1]], counts=[5, 2], document_frequencies=[1, 1])
        >>> History(np.array([5, 2]), np.array([1, 1]), np.array([5, 3]), np.array([9, 9]), 0).state(v)
        {'last_round': 0, 'corpora': [[2, 9]], 'lengths': array([5, 3])}
        """
        changes = np.flatnonzero(np.diff(self.n_symbols, prepend=-1))
        sizes = np.diff(changes, append=self.n_symbols.size)
        corpora = [list(pair) for pair in zip(sizes.tolist(), self.n_symbols[changes].tolist(), strict=True)]
        state: dict[str, Any] = {
            "last_round": int(self.last_round),
            "corpora": corpora,
            "lengths": self.lengths,
        }
        known = (
            vocabulary.counts[vocabulary.n_alphabet :],
            vocabulary.document_frequencies[vocabulary.n_alphabet :],
        )
        if not all(map(np.array_equal, self[:2], known)):
            state |= {"counts": self.counts, "document_frequencies": self.document_frequencies}
        return state

    @classmethod
    def from_state(cls, state: dict[str, Any], vocabulary: Vocabulary) -> History:
        """Make a history from `state`, whose arrays may be lists.

        ModelFormatError for anything that is not valid.
        """
        named = ("counts", "document_frequencies")
        own = named if any(name in state for name in named) else ()
        check_fields(state, ("last_round", "corpora", "lengths", *own), "history")
        arrays = {name: getattr(vocabulary, name)[vocabulary.n_alphabet :] for name in named}
        arrays |= {name: _counts(state[name], f"history: {name}") for name in ("lengths", *own)}
        m = arrays["lengths"].size
        for name in named:
            if arrays[name].size != m:
                raise ModelFormatError(
                    f"history: lengths: expected {arrays[name].size} values, as many as {name}, got {m}"
                )
        if m < vocabulary.n_learned:  # a fit by idf may have removed merges, so there may be more
            raise ModelFormatError(
                f"history: lengths: expected at least {vocabulary.n_learned} values, one a token, got {m}"
            )
        corpora = _counts(state["corpora"], "history: corpora", 2)
        if (corpora[:, 0] > m).any() or int(corpora[:, 0].sum()) != m:
            raise ModelFormatError(f"history: corpora: expected {m} merges in all")
        last = state["last_round"]
        if type(last) is not int or not 0 <= last <= m:
            raise ModelFormatError(f"history: last_round: expected an integer in 0..{m}, got {quoted(last)}")
        n_symbols = np.repeat(corpora[:, 1], corpora[:, 0])
        return cls(arrays["counts"], arrays["document_frequencies"], arrays["lengths"], n_symbols, last)


def _counts(values: Any, name: str, width: int | None = None) -> np.ndarray:
    """An array of integers of at least 0, int64[n] or int64[n, width]; ModelFormatError otherwise."""
    array = integers_of(values, name)
    if width is not None and array.size == 0:
        array = array.reshape(0, width)
    if array.ndim != (1 if width is None else 2) or (width is not None and array.shape[1] != width):
        raise ModelFormatError(
            f"{name}: expected {'a list' if width is None else f'rows of {width}'}, got shape {array.shape}"
        )
    if (array < 0).any():
        raise ModelFormatError(f"{name}: expected integers of at least 0, got {array[array < 0][0]}")
    return array.astype(np.int64)
