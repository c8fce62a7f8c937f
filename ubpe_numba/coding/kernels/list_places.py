"""Where tokens stand in encoded documents: all places of one token side by side, or those of one token."""

from __future__ import annotations

from ubpe_numba.runtime.compiler import kernel


@kernel
def list_places(ids, offsets, sizes, ends, places, starts):
    """Write every index of ids to places, those of one id together and ascending, and where it starts in its document to starts.

    ids int32[n], 0..V-1; offsets int64[d + 1] of the documents, from 0 to n; sizes int64[V], symbols of each id; ends int64[V]:
    at the start, where the indices of each id begin in places, afterwards, where they end; places and starts int64[n]. The
    caller has counted the ids, and allocates all. A counting sort, O(n + d).

    Documents [2, 0] and [2, 1], sizes [1, 1, 3], ends [0, 1, 2]: index 0 goes to places[2], 1 to places[0], 2 to places[3], 3 to
    places[1]: places [1, 3, 0, 2], starts [3, 3, 0, 0], and ends becomes [1, 2, 4].
    """
    for d in range(offsets.size - 1):
        start = 0
        for i in range(offsets[d], offsets[d + 1]):
            t = ids[i]
            places[ends[t]] = i
            starts[ends[t]] = start
            ends[t] += 1
            start += sizes[t]


@kernel
def find_places(ids, offsets, sizes, token, places, starts):
    """Write the indices of ids that are `token` to places, and where each starts in its document to starts.

    As `list_places`, of one id; places and starts have as many elements as ids has of it, int64. O(n + d).

    Documents [2, 0] and [2, 1], sizes [1, 1, 3], token 1: places [3], starts [3].
    """
    found = 0
    for d in range(offsets.size - 1):
        start = 0
        for i in range(offsets[d], offsets[d + 1]):
            t = ids[i]
            if t == token and found < places.size:
                places[found] = i
                starts[found] = start
                found += 1
            start += sizes[t]
