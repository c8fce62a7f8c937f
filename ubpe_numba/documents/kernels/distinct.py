"""Finding equal documents: open addressing over hashes of their symbols."""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.jit import helper, kernel

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@helper
def _hash(values, begin, end):
    """A uint64 of a document. O(length)."""
    h = np.uint64(end - begin) * _MULTIPLIER
    for j in range(begin, end):
        h = (h ^ np.uint64(values[j])) * _MULTIPLIER
        h ^= h >> np.uint64(29)
    return h


@kernel
def find_distinct(values, offsets, table, hashes, first_of):
    """Number the distinct documents in order of first appearance.

    values uint32 (any symbols of 32 bits, by their bits), offsets int64[d + 1]; `table` int32 full of -1, a power of two of at
    least 2d entries; `hashes` uint64[d] scratch; `first_of` int64[d] gets, for every document, the number of the first equal one.
    O(symbols) expected.
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
