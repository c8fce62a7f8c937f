"""Where the tokens of documents stand: ids, starts and lengths in flat arrays, one row a token."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.ragged import Ragged

__all__ = ["Spans"]


class Spans(NamedTuple):
    """The n tokens of documents in order, a row each: what a picture or a table of them needs.

    Attributes
    ----------
    ids : int32[n]
        The token.
    starts : int64[n]
        The position of its first symbol in its document (integers, code points, or bytes where text is encoded as UTF-8).
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
    """The spans of encoded documents.

    Parameters
    ----------
    ids, starts : Ragged
        Tokens, and the position of each in its document.
    sizes : int64[V]
        How many symbols each token stands for.
    ends : int64[d] or None
        The lengths of the documents, where tokens may cover another number of symbols than they stand for: each then ends where
        the next one starts, and the last with the document. None where they cover what they stand for.

    Examples
    --------
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
    filled = ids.offsets[1:] > ids.offsets[:-1]
    following[ids.offsets[1:][filled] - 1] = ends[filled]
    return Spans(ids.values, first, following - first, documents)
