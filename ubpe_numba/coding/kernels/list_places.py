"""Where each token stands in encoded documents: all places of one token side by side."""

from __future__ import annotations

from ubpe_numba.runtime.jit import kernel


@kernel
def list_places(ids, ends, places):
    """Write every index of ids int32[n], 0..V-1, to places int64[n], those of one id together and ascending.

    ends int64[V]: at the start, where the indices of each id begin in places; afterwards, where they end. The caller has counted
    the ids, and allocates all. A counting sort, O(n).

    ids [2, 0, 2, 1], ends [0, 1, 2]: index 0 goes to places[2], 1 to places[0], 2 to places[3], 3 to places[1]: [1, 3, 0, 2], and
    ends becomes [1, 2, 4].
    """
    for i in range(ids.size):
        t = ids[i]
        places[ends[t]] = i
        ends[t] += 1
