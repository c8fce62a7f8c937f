"""Where tokens occur in encoded documents: one of them, or all with an index.

Layout of the index, for the documents of ids [2, 0], [2, 1] and three tokens:

    ids        2   0 | 2   1        flat, documents side by side
    places     1   3   0   2        indices of ids, grouped by token: token 0 at 1, token 1 at 3, token 2 at 0 and 2
    starts     3   3   0   0        where each starts in its document, if token 2 stands for three symbols
    bounds     0   1   2        4   the group of token t is places[bounds[t] : bounds[t + 1]]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.kernels.occurrences import find_places, list_places
from ubpe_numba.coding.usage import usage_of
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.runtime.arrays import checked_token, offsets_of, writable

__all__ = ["Occurrences", "TokenIndex"]


class Occurrences(NamedTuple):
    """Where a token occurs k times in encoded documents, in order.

    Attributes
    ----------
    documents : int64[k]
        The index of the document.
    places : int64[k]
        The index among the ids of the document.
    starts : int64[k]
        The position of its first symbol among those that the tokens of the document stand for: in the decoded document, unless
        the tokenizer leaves out the beginning of a text, as some from elsewhere do.

    Examples
    --------
    >>> from ubpe_numba import BPE
    >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
    >>> tok.find(2, tok.encode_batch(["aab", "abab"]))
    Occurrences(documents=array([0, 1, 1]), places=array([1, 0, 1]), starts=array([1, 0, 2]))
    """

    documents: NDArray[np.int64]
    places: NDArray[np.int64]
    starts: NDArray[np.int64]


class TokenIndex:
    """All occurrences of all tokens in encoded documents; ``index[token]`` are the `Occurrences` of one.

    Made by `Tokenizer.index`, in O(ids). It holds 16 bytes for each id.

    Parameters
    ----------
    ids : Ragged
        The encoded documents, ids in 0..V-1.
    sizes : int64[V]
        How many symbols each token stands for.
    n_threads : int or None
        Threads that count; the index is the same for any number.

    Attributes
    ----------
    counts : int64[V]
        Occurrences of each token.
    document_frequencies : int64[V]
        Documents that hold it.

    Examples
    --------
    >>> from ubpe_numba import BPE
    >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
    >>> index = tok.index(tok.encode_batch(["aab", "abab"]))
    >>> index
    TokenIndex(4 occurrences of 3 tokens in 2 documents)
    >>> index.counts.tolist(), index[2].starts.tolist()
    ([1, 0, 3], [1, 0, 2])
    """

    __slots__ = ("_bounds", "_offsets", "_places", "_starts", "counts", "document_frequencies")

    def __init__(self, ids: Ragged, sizes: NDArray[np.int64], n_threads: int | None = 1) -> None:
        whole = ids.compact()
        used = usage_of(whole, sizes.size, n_threads=n_threads)
        self.counts, self.document_frequencies = used.counts, used.document_frequencies
        self._offsets, self._bounds = whole.offsets.copy(), offsets_of(self.counts)  # a Ragged may be written to
        self._places, self._starts = np.empty((2, whole.values.size), np.int64)
        begins = self._bounds[:-1].copy()
        list_places(writable(whole.values), writable(whole.offsets), writable(sizes), begins, self._places, self._starts)

    def __len__(self) -> int:
        """The number V of tokens."""
        return self.counts.size

    def __getitem__(self, token: int) -> Occurrences:
        """The occurrences of one token; IndexError if there is no such token, TypeError if it is no integer."""
        t = checked_token(token, len(self))
        group = slice(self._bounds[t], self._bounds[t + 1])
        return _located(self._places[group], self._starts[group], self._offsets)

    def __iter__(self) -> Iterator[Occurrences]:
        return (self[token] for token in range(len(self)))

    def __repr__(self) -> str:
        return f"TokenIndex({self._places.size} occurrences of {len(self)} tokens in {self._offsets.size - 1} documents)"


def find(token: Any, ids: Ragged, sizes: NDArray[np.int64]) -> Occurrences:
    """The occurrences of one token of `sizes.size`, in O(ids); raises as `TokenIndex.__getitem__`.

    >>> find(1, Ragged.from_lists([[0, 1], [], [1]]), np.array([1, 2]))
    Occurrences(documents=array([0, 2]), places=array([1, 0]), starts=array([1, 0]))
    """
    t = checked_token(token, sizes.size)
    whole = ids.compact()
    places, starts = np.empty((2, np.count_nonzero(whole.values == t)), np.int64)
    find_places(writable(whole.values), writable(whole.offsets), writable(sizes), t, places, starts)
    return _located(places, starts, whole.offsets)


def _located(at: NDArray[np.int64], starts: NDArray[np.int64], offsets: NDArray[np.int64]) -> Occurrences:
    """The occurrences at these indices of the ids of all documents; what it returns may be written to."""
    documents = np.searchsorted(offsets, at, side="right") - 1
    return Occurrences(documents, at - offsets[documents], starts.copy())
