"""A read-only hash table of pairs of small ids, packed: pair -> id, one cache line a look-up.

Ids are below NOBODY, 2**21 - 1. An entry is one uint64, FREE where there is none; eight are a bucket, a cache line of the
processor:

    bits   63 ... 43   42 ... 22   21 ... 0
           left        right       id of the pair

    bucket 0    (3, 1) 7    (0, 5) 9    free   free   free   free   free   free        compared all at once
    bucket 1    ...

The hash of a pair says which bucket holds it. A pair that finds its bucket full goes to the next, so a look-up goes on where the
last entry of a bucket is taken. The table is at most two thirds full; the caller allocates it, aligned to 64 bytes.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.jit import helper, section
from ubpe_numba.runtime.machine.intrinsics import load64
from ubpe_numba.runtime.machine.vectors import value_of_8

NOBODY = (1 << 21) - 1  # an id that no pair has
NO_PAIR = (1 << 27) - 1  # what a pair that is not there makes: more than any id
FREE = np.uint64(0xFFFFFFFFFFFFFFFF)
BUCKET = 64  # bytes
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio


@helper
def bucket_of(table, mask, left, right):
    """The address of the bucket of a pair; table: address, mask: number of buckets - 1. O(1)."""
    h = (np.uint64(left) << np.uint64(32) | np.uint64(right)) * _MULTIPLIER
    h ^= h >> np.uint64(29)
    return table + BUCKET * np.int64(h & np.uint64(mask))


@helper
def id_in(table, mask, bucket, left, right):
    """The id of the pair whose bucket is known, or NO_PAIR. O(1) expected; of (3, 1) above: 7."""
    key = np.uint64(left) << np.uint64(21) | np.uint64(right)
    found = value_of_8(bucket, key)
    while (found == 0) & (load64(bucket, BUCKET - 8) != FREE):  # one branch, hardly ever taken
        bucket = table + ((bucket + BUCKET - table) & (BUCKET * mask + BUCKET - 1))
        found = value_of_8(bucket, key)
    return found if found else np.int64(NO_PAIR)


@helper
def id_of(table, mask, left, right):
    """The id of a pair, or NO_PAIR; table: address, mask: number of buckets - 1. O(1) expected."""
    return id_in(table, mask, bucket_of(table, mask, left, right), left, right)


@section
def enter_pairs(left, right, first, table):
    """Enter the pairs (left[i], right[i]), int32[m], with the ids `first + i`, into a table full of FREE. O(m).

    table uint64[8 * a power of two]. left [0, 4], right [1, 2], first 4: the table holds (0, 1) -> 4 and (4, 2) -> 5.
    """
    for k in range(left.size):
        u = np.uint64(left[k])
        v = np.uint64(right[k])
        i = bucket_of(np.int64(0), table.size // 8 - 1, u, v) // 8
        while table[i] != FREE:
            i = (i + 1) & (table.size - 1)
        table[i] = u << np.uint64(43) | v << np.uint64(22) | np.uint64(first + k)


def pair_buckets(n: int) -> np.ndarray:
    """An empty table with room for n pairs, aligned to 64 bytes."""
    size = 1 << max(4, (3 * n // 2).bit_length())
    room = np.full(size + 8, FREE, np.uint64)
    skip = -room.ctypes.data % BUCKET // 8
    return room[skip : skip + size]
