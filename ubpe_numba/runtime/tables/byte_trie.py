"""A compact trie of tokens that are bytes: 8 bytes an edge.

Nodes 0..255 are the bytes themselves, further ones are numbered as they are made, up to 2**24. `edges` is uint64[capacity], an
open addressing hash table with linear probing; an entry is FREE or

    bits   63 ... 40   39 ... 32   31 ... 0
           node        byte        child

The edges of a node start to be looked for side by side: the hash of the node, plus the byte. `token_of`, int32[nodes], is the
token that a node stands for, -1 if it is none. With the tokens 256 = "ab" and 257 = "abc":

    97 --b--> 256 --c--> 257        token_of[256] = 256, token_of[257] = 257; no other node has children
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.jit import helper
from ubpe_numba.runtime.machine.intrinsics import load64

FREE = np.uint64(0xFFFFFFFFFFFFFFFF)
NODES = 1 << 24  # a trie has fewer
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio


@helper
def edge_home(node, byte, mask):
    """Where the search for an edge starts; mask: capacity - 1. O(1)."""
    return np.int64((((np.uint64(node) * _MULTIPLIER) >> np.uint64(24)) + np.uint64(byte)) & np.uint64(mask))


@helper
def find_child(edges, mask, node, byte):
    """Index of the edge from a node by a byte, or of the free entry where it would go; edges: address. O(1) expected."""
    key = np.uint64(node << 8 | byte)
    i = edge_home(node, byte, mask)
    while True:
        edge = load64(edges, 8 * i)
        if (edge >> np.uint64(32)) == key or edge == FREE:
            return i
        i = (i + 1) & mask


@helper
def child_of(edges, mask, node, byte):
    """The child of a node by a byte, or -1; edges: address, mask: capacity - 1. Of 97 by "b" above: 256. O(1) expected."""
    edge = load64(edges, 8 * find_child(edges, mask, node, byte))
    return np.int64(-1) if edge == FREE else np.int64(edge & np.uint64(0xFFFFFFFF))


@helper
def edge_of(node, byte, child):
    """The entry of an edge: from 97 by 98 to 256 -> 97 << 40 | 98 << 32 | 256."""
    return np.uint64(node << 8 | byte) << np.uint64(32) | np.uint64(child)


def byte_trie(n: int) -> np.ndarray:
    """An empty table with room for n edges: at most five sixths of its entries are taken."""
    return np.full(1 << max(4, (6 * n // 5).bit_length()), FREE, np.uint64)
