"""Occurrences of tokens in encoded documents: how many, and where."""

from __future__ import annotations

from ubpe_numba.runtime.compiler import kernel


@kernel
def count_tokens(ids, offsets, n_copies, first, last_seen, counts, documents):
    """Add the occurrences of every id to counts and the documents that hold it to documents, both int64[V].

    `ids` int32, offsets int64[d + 1], n_copies int64[d], as how many documents each counts. `first`, the
    number of the first document. `last_seen` int64[V], the last document that held an id, below `first` at
    the start. An id of V or more is passed over. The caller allocates all. O(ids).

    The documents [1, 1] and [1, 0], the second of 3 copies: counts [3, 5], documents [3, 4].
    """
    for d in range(offsets.size - 1):
        copies = n_copies[d]
        for j in range(offsets[d], offsets[d + 1]):
            t = ids[j]
            if 0 <= t < counts.size:
                counts[t] += copies
                if last_seen[t] != first + d:
                    last_seen[t] = first + d
                    documents[t] += copies


@kernel
def list_places(ids, offsets, sizes, ends, places, starts):
    """Write the indices of all ids to `places`, and their starts in the document to `starts`.

    The indices of an id are together, in ascending order.

    `ids` int32[n], 0..V-1. `offsets` int64[d + 1] of the documents, from 0 to n. `sizes` int64[V], symbols
    per id. `ends` int64[V] holds the start of each id's indices in `places`, and afterwards their end.
    `places` and `starts` are int64[n]. The caller has counted the ids, and allocates all. A counting sort,
    O(n + d).

    Documents [2, 0] and [2, 1], sizes [1, 1, 3], ends [0, 1, 2]. Index 0 goes to places[2], 1 to places[0], 2
    to places[3], 3 to places[1]. So places = [1, 3, 0, 2] and starts = [3, 3, 0, 0]; ends becomes [1, 2, 4].
    """
    for d in range(offsets.size - 1):
        start = 0
        for i in range(offsets[d], offsets[d + 1]):
            t = ids[i]
            places[ends[t]] = i
            starts[ends[t]] = start
            ends[t] += 1
            start += sizes[t]
