"""Finding equal documents, in a hash table with open addressing.

An entry of the table is the number of a document, or -1. The search for a document starts at its hash and
goes to the next entry until it finds an equal document, or an empty entry, which it fills. Three documents,
of which the last equals the first, in a table of 8 entries; here the hashes of all three end in the bits
001::

    document 0: entry 1 is empty                                table [-1,  0, -1, -1, -1, -1, -1, -1]
    document 1: entry 1 is not equal, entry 2 is empty          table [-1,  0,  1, -1, -1, -1, -1, -1]
    document 2: entry 1 is equal                                first_of [0, 1, 0]
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper, kernel

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@helper
def _hash(values, begin, end):
    """The hash of `values[begin:end]`, uint64. O(length)."""
    h = np.uint64(end - begin) * _MULTIPLIER
    for j in range(begin, end):
        h = (h ^ np.uint64(values[j])) * _MULTIPLIER
        h ^= h >> np.uint64(29)
    return h


@kernel
def find_distinct(values, offsets, table, hashes, first_of):
    """Find for every document the first one that is equal.

    `values` uint32 (any symbols of 32 bits, by their bits), offsets int64[d + 1]. `table` int32, all -1, a
    power of two of at least 2d entries. `hashes` uint64[d], scratch. `first_of` int64[d] gets the number of
    the first document that equals each. The caller allocates all of them. O(symbols) expected.

    values [7, 8, 9, 7, 8, 9], offsets [0, 2, 3, 5, 6] (the documents 7 8, 9, 7 8, 9) -> first_of [0, 1, 0,
    1].
    """
    mask = np.uint64(table.size - 1)
    for d in range(offsets.size - 1):
        begin, end = offsets[d], offsets[d + 1]
        h = _hash(values, begin, end)
        hashes[d] = h
        i = (h ^ (h >> np.uint64(32))) & mask
        first_of[d] = d
        while table[i] >= 0:
            other = np.int64(table[i])
            if hashes[other] == h and offsets[other + 1] - offsets[other] == end - begin:
                j = np.int64(0)
                while j < end - begin and values[begin + j] == values[offsets[other] + j]:
                    j += 1
                if j == end - begin:
                    first_of[d] = other
                    break
            i = (i + np.uint64(1)) & mask
        if first_of[d] == d:
            table[i] = d
