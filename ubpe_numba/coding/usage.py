"""Which tokens an encoder uses on a corpus: their occurrences and document frequencies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ubpe_numba.coding.kernels import occurrences
from ubpe_numba.documents.corpus import Corpus
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import writable

__all__ = ["Usage"]


class Usage(NamedTuple):
    """How an encoder uses the V tokens of a vocabulary on d documents.

    Attributes
    ----------
    counts : int64[V]
        Occurrences of each token.
    document_frequencies : int64[V]
        Documents that hold it.
    n_documents : int
        How many documents there are.
    gaps : bool[V] or None
        Which ids stand for no token; None if all stand for one.

    Examples
    --------
    >>> found = usage_of(Ragged.from_lists([[1, 1], [1, 0]]), 3)
    >>> found.counts.tolist(), found.document_frequencies.tolist(), found.unused.tolist()
    ([1, 3, 0], [1, 2, 0], [2])
    """

    counts: np.ndarray
    document_frequencies: np.ndarray
    n_documents: int
    gaps: np.ndarray | None = None

    @property
    def unused(self) -> np.ndarray:
        """The ids of tokens that occur nowhere, int64, ascending."""
        absent = self.counts == 0
        return np.flatnonzero(absent if self.gaps is None else absent & ~self.gaps)


def usage_of(
    encoded: Ragged,
    size: int,
    n_copies: np.ndarray | None = None,
    n_threads: int | None = 1,
    gaps: np.ndarray | None = None,
) -> Usage:
    """Count the tokens of encoded documents.

    Parameters
    ----------
    encoded : Ragged
        Ids of documents.
    size : int
        The number V of ids; others are passed over.
    n_copies : int64[d] or None
        As how many documents each counts; None for one.
    n_threads : int or None
        The result is the same for any number of threads.
    gaps : bool[V] or None
        As the attribute of `Usage`.
    """
    copies = np.ones(len(encoded), np.int64) if n_copies is None else writable(n_copies)
    ids, offsets = writable(np.asarray(encoded.values, np.int32)), encoded.offsets

    def chunk(begin: int, end: int) -> np.ndarray:
        found = np.zeros((2, size), np.int64)
        last_seen = np.full(size, -1, np.int64)
        occurrences.count_tokens(ids, offsets[begin : end + 1], copies[begin:end], begin, last_seen, found[0], found[1])
        return found

    total = int(offsets[-1] - offsets[0])
    found = np.sum(thread_pool.run(chunk, thread_pool.chunks_of(offsets, n_threads, 1), n_threads, total), axis=0)
    return Usage(found[0], found[1], int(copies.sum()), gaps)


def usage_in(encoded: Ragged, corpus: Corpus, size: int, n_threads: int | None) -> Usage:
    """How the encoded segments of a corpus use `size` tokens, documents counted by weight.

    Examples
    --------
    >>> from ubpe_numba.documents.corpus import as_corpus
    >>> corpus = as_corpus([[0, 1, 0], [0]], boundaries=[[1], []], sample_weight=[3, 1])
    >>> found = usage_in(Ragged.from_lists([[0], [1, 0], [0]]), corpus, 2, 1)
    >>> found.counts.tolist(), found.document_frequencies.tolist(), found.n_documents
    ([7, 3], [4, 3], 4)
    """
    weights, offsets = corpus.weights, encoded.offsets
    if corpus.document_of is not None:
        first = np.flatnonzero(np.diff(corpus.document_of, prepend=-1))
        offsets = offsets[np.append(first, len(encoded))]
        weights = None if weights is None else weights[first]
    return usage_of(Ragged._trusted(encoded.values, offsets), size, weights, n_threads)
