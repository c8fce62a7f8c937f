"""Tokens of encoded documents: usage counts, spans, and an index of occurrences.

Layout of the index, for the documents of ids [2, 0], [2, 1] and three tokens:

    ids        2   0 | 2   1        flat, documents side by side
    places     1   3   0   2        indices of ids, by token: token 0 at 1, token 1 at 3, token 2 at 0 and 2
    starts     3   3   0   0        where each starts in its document, if token 2 has three symbols
    bounds     0   1   2        4   the group of token t is places[bounds[t] : bounds[t + 1]]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.kernels.occurrences import count_tokens, list_places
from ubpe_numba.documents.ragged import Ragged, trusted
from ubpe_numba.documents.read import Corpus
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import checked_token, offsets_of, writable


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
        Mask of the ids without a token; None if there are none.

    Examples
    --------
    >>> found = usage_of(Ragged.from_lists([[1, 1], [1, 0]]), 3)
    >>> found
    Usage(4 tokens of 3 ids, 1 of them unused, in 2 documents)
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

    def __repr__(self) -> str:
        total, unused = int(self.counts.sum()), self.unused.size
        return (
            f"Usage({total} tokens of {self.counts.size} ids, {unused} of them unused, in "
            f"{self.n_documents} documents)"
        )


def usage_of(
    encoded: Ragged,
    size: int,
    n_copies: np.ndarray | None = None,
    n_threads: int | None = 1,
    gaps: np.ndarray | None = None,
) -> Usage:
    """Count the tokens of encoded documents, of `size` ids; others are passed over.

    `n_copies` int64[d], as how many documents each counts, None for one; `gaps` as the attribute of `Usage`.
    """
    copies = np.ones(len(encoded), np.int64) if n_copies is None else writable(n_copies)
    ids, offsets = writable(np.asarray(encoded.values, np.int32)), encoded._offsets

    def chunk(begin: int, end: int) -> np.ndarray:
        sums = np.zeros((2, size), np.int64)
        last_seen = np.full(size, -1, np.int64)
        count_tokens(ids, offsets[begin : end + 1], copies[begin:end], begin, last_seen, sums[0], sums[1])
        return sums

    total = int(offsets[-1] - offsets[0])
    totals = np.sum(
        thread_pool.run(chunk, thread_pool.chunks_of(offsets, n_threads, 1), n_threads, total), axis=0
    )
    return Usage(totals[0], totals[1], int(copies.sum()), gaps)


def usage_in(encoded: Ragged, corpus: Corpus, size: int, n_threads: int | None) -> Usage:
    """How the encoded segments of a corpus use `size` tokens, documents counted by weight.

    >>> from ubpe_numba.documents.read import as_corpus
    >>> corpus = as_corpus([[0, 1, 0], [0]], boundaries=[[1], []], sample_weight=[3, 1])
    >>> found = usage_in(Ragged.from_lists([[0], [1, 0], [0]]), corpus, 2, 1)
    >>> found.counts.tolist(), found.document_frequencies.tolist(), found.n_documents
    ([7, 3], [4, 3], 4)
    """
    weights, offsets = corpus.weights, encoded._offsets
    if corpus.document_of is not None:
        first = np.flatnonzero(np.diff(corpus.document_of, prepend=-1))
        offsets = offsets[np.append(first, len(encoded))]
        weights = None if weights is None else weights[first]
    return usage_of(trusted(encoded.values, offsets), size, weights, n_threads)


class Spans(NamedTuple):
    """The n tokens of documents in order, one per row, for a plot or a table.

    Attributes
    ----------
    ids : int32[n]
        The token.
    starts : int64[n]
        The position of its first symbol in its document (integers, code points, or bytes if text is encoded
        as UTF-8).
    lengths : int64[n]
        How many symbols of the document it covers.
    documents : int64[n]
        The index of its document.

    Examples
    --------
    >>> from ubpe_numba import BPE
    >>> spans = BPE.from_merges([[0, 1]], alphabet="ab").spans(["aab", "b"])
    >>> spans.ids.tolist(), spans.starts.tolist(), spans.lengths.tolist(), spans.documents.tolist()
    ([0, 2, 1], [0, 1, 0], [1, 2, 1], [0, 0, 1])
    """

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    documents: NDArray[np.int64]


def spans_of(ids: Ragged, starts: Ragged, sizes: NDArray[np.int64], ends: NDArray[np.int64] | None) -> Spans:
    """The spans of encoded documents, of their `starts` and of `sizes` int64[V], the symbols of each token.

    `ends` int64[d] are the lengths of the documents, for tokens that may cover another number of symbols than
    they have. Each token then ends at the start of the next, and the last at the end of the document. None if
    tokens cover their own symbols.

    >>> ids, starts = Ragged.from_lists([[1, 0], [1]]), Ragged.from_lists([[0, 3], [0]])
    >>> spans_of(ids, starts, np.array([1, 2]), np.array([4, 2])).lengths.tolist()
    [3, 1, 2]
    """
    ids, starts = ids.compact(), starts.compact()
    first = starts.values.astype(np.int64)
    documents = np.repeat(np.arange(len(ids)), ids.lengths)
    if ends is None:
        return Spans(ids.values, first, sizes[ids.values], documents)
    following = np.append(first[1:], 0)
    filled = ids._offsets[1:] > ids._offsets[:-1]
    following[ids._offsets[1:][filled] - 1] = ends[filled]
    return Spans(ids.values, first, following - first, documents)


class Occurrences(NamedTuple):
    """Where a token occurs k times in encoded documents, in order.

    Attributes
    ----------
    documents : int64[k]
        The index of the document.
    places : int64[k]
        The index among the ids of the document.
    starts : int64[k]
        The position of its first symbol among the symbols of its tokens. This is its position in the decoded
        document, except for foreign tokenizers that leave out the beginning of a text.

    Examples
    --------
    >>> from ubpe_numba import BPE
    >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
    >>> tok.index(tok.encode_batch(["aab", "abab"]))[2]
    Occurrences(documents=array([0, 1, 1]), places=array([1, 0, 1]), starts=array([1, 0, 2]))
    """

    documents: NDArray[np.int64]
    places: NDArray[np.int64]
    starts: NDArray[np.int64]


class TokenIndex:
    """All occurrences of all tokens in encoded documents; ``index[token]`` are the `Occurrences` of a token.

    Made by `Tokenizer.index`, in O(ids). It holds 16 bytes for each id.

    Parameters
    ----------
    ids : Ragged
        The encoded documents, ids in 0..V-1.
    sizes : int64[V]
        Symbols of each token.
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
        self._offsets, self._bounds = whole._offsets, offsets_of(self.counts)
        self._places, self._starts = np.empty((2, whole.values.size), np.int64)
        begins = self._bounds[:-1].copy()
        list_places(
            writable(whole.values), whole._offsets, writable(sizes), begins, self._places, self._starts
        )

    def __len__(self) -> int:
        """The number V of tokens."""
        return self.counts.size

    def __getitem__(self, token: int) -> Occurrences:
        """The occurrences of a token.

        IndexError if the token does not exist, TypeError if it is not an integer.
        """
        t = checked_token(token, len(self))
        group = slice(self._bounds[t], self._bounds[t + 1])
        at = self._places[group]
        documents = np.searchsorted(self._offsets, at, side="right") - 1
        # may be written to
        return Occurrences(documents, at - self._offsets[documents], self._starts[group].copy())

    def __iter__(self) -> Iterator[Occurrences]:
        return (self[token] for token in range(len(self)))

    def __repr__(self) -> str:
        return (
            f"TokenIndex({self._places.size} occurrences of {len(self)} tokens in {self._offsets.size - 1} "
            "documents)"
        )
