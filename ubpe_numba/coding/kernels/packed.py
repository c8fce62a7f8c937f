"""Compact tables of text encoders: pairs in buckets, and a trie of bytes; 8 bytes an entry.

`pair_buckets` is a read-only hash table of pairs of small ids, pair -> id, one cache line per look-up. Ids
are below NOBODY, 2**21 - 1. An entry is one uint64, or FREE. Eight entries are a bucket, a cache line of the
processor:

    bits   63 ... 43   42 ... 22   21 ... 0
           left        right       id of the pair

    bucket 0    (3, 1) 7    (0, 5) 9    free   free   free   free   free   free        compared all at once
    bucket 1    ...

The hash of a pair determines its bucket. If the bucket is full, the pair goes to the next, so a look-up
continues after a bucket whose last entry is used. The table is at most two thirds full; the caller allocates
it, aligned to 64 bytes.

`byte_trie` is a trie of tokens that are bytes. Nodes 0..255 are the bytes themselves, further ones are
numbered as they are made, up to 2**24. `edges` is uint64[capacity], an open addressing hash table with linear
probing; an entry is FREE or

    bits   63 ... 40   39 ... 32   31 ... 0
           node        byte        child

The searches for the edges of a node begin side by side: at the hash of the node, plus the byte. `token_of`,
int32[nodes], is the token that a node is, -1 if it is none. With the tokens 256 = "ab" and 257 = "abc":

    97 --b--> 256 --c--> 257        token_of[256] = 256, token_of[257] = 257; no other node has children
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper, section
from ubpe_numba.runtime.machine.intrinsics import load64, value_of_8

NOBODY = (1 << 21) - 1  # an id that no pair has
NO_PAIR = (1 << 27) - 1  # the id of a pair that is not in the table: more than any id
FREE = np.uint64(0xFFFFFFFFFFFFFFFF)
BUCKET = 64  # bytes
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio
NODES = 1 << 24  # a trie has fewer


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
    entry = value_of_8(bucket, key)
    while (entry == 0) & (load64(bucket, BUCKET - 8) != FREE):  # one branch, rarely taken
        bucket = table + ((bucket + BUCKET - table) & (BUCKET * mask + BUCKET - 1))
        entry = value_of_8(bucket, key)
    return entry if entry else np.int64(NO_PAIR)


@helper
def id_of(table, mask, left, right):
    """The id of a pair, or NO_PAIR; table: address, mask: number of buckets - 1. O(1) expected."""
    return id_in(table, mask, bucket_of(table, mask, left, right), left, right)


@section
def enter_pairs(left, right, first, table):
    """Enter the pairs (left[i], right[i]), int32[m], with the ids `first + i`, into a table full of FREE.

    O(m).

    table uint64[8 * a power of two]. left [0, 4], right [1, 2], first 4: the table holds (0, 1) -> 4 and (4,
    2) -> 5.
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


@helper
def find_child(edges, mask, node, byte):
    """Index of the edge from a node by a byte, or of the free entry for it; `edges` is an address.

    O(1) expected.
    """
    key = np.uint64(node << 8 | byte)
    i = np.int64((((np.uint64(node) * _MULTIPLIER) >> np.uint64(24)) + np.uint64(byte)) & np.uint64(mask))
    while True:
        edge = load64(edges, 8 * i)
        if (edge >> np.uint64(32)) == key or edge == FREE:
            return i
        i = (i + 1) & mask


@helper
def child_of(edges, mask, node, byte):
    """The child of a node by a byte, or -1; edges: address, mask: capacity - 1.

    97 by "b" above gives 256. O(1) expected.
    """
    edge = load64(edges, 8 * find_child(edges, mask, node, byte))
    return np.int64(-1) if edge == FREE else np.int64(edge & np.uint64(0xFFFFFFFF))


@helper
def edge_of(node, byte, child):
    """The entry of an edge: from 97 by 98 to 256 -> 97 << 40 | 98 << 32 | 256."""
    return np.uint64(node << 8 | byte) << np.uint64(32) | np.uint64(child)


def byte_trie(n: int) -> np.ndarray:
    """An empty table with room for n edges: at most five sixths of its entries are used."""
    return np.full(1 << max(4, (6 * n // 5).bit_length()), FREE, np.uint64)
