"""Integers that a user gives, looked up one by one: symbols of an alphabet, or ids that have to be those of tokens."""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import kernel

#: Answers of `known_ids` beside a place.
UNKNOWN = -1
FULL = -2


@kernel
def known_ids(given, n, low, size, table, out, offsets):
    """Write the ids of one document after those before it; returns where they begin, UNKNOWN if one is not known, or FULL.

    given int64, n of it. Known are `low`, ..., `low + size - 1`: the id is the difference to `low`; or if there is a table
    int32[size], that entry of it, of which a negative one is not known. Without a table it is int32[0]. out int32; offsets
    int64[2], where the last document lies, becomes where this one does; FULL, and nothing is written, where there is no room left
    for it. The caller allocates all of them. O(n).

    low 5, table [1, -1, 0], offsets [0, 4]: of [7, 5, 5] out[4:7] is [0, 1, 1] and offsets [4, 7], returns 4;
    of [7, 6] or [4] UNKNOWN.
    """
    begin = offsets[1]
    if n > out.size - begin:
        return np.int64(FULL)
    offsets[0] = begin
    offsets[1] = begin + n
    first = np.uint64(low)
    known = True
    if table.size:
        for i in range(n):
            at = np.uint64(given[i]) - first  # what is below `low` becomes large
            token = np.int32(-1)
            if at < np.uint64(table.size):
                token = table[at]
            out[begin + i] = token
            known &= token >= 0
    else:
        for i in range(n):
            at = np.uint64(given[i]) - first
            out[begin + i] = np.int32(at)
            known &= at < np.uint64(size)
    return begin if known else np.int64(UNKNOWN)
