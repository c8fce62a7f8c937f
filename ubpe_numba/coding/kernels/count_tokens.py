"""How often each token occurs in encoded documents, and in how many of them."""

from __future__ import annotations

from ubpe_numba.runtime.compiler import kernel


@kernel
def count_tokens(ids, offsets, n_copies, first, last_seen, counts, documents):
    """Add the occurrences of every id to counts and the documents that hold it to documents, both int64[V].

    ids int32, offsets int64[d + 1], n_copies int64[d], as how many documents each counts; first, the number of the first
    document; last_seen int64[V], the last document that held an id, below `first` at the start. An id of V or more is passed
    over. The caller allocates all. O(ids).

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
