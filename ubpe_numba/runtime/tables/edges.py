"""Edges of a trie or an automaton, (node, symbol) -> int64, in an open addressing hash table.

int64[2 * capacity], key and value side by side: one cache line a step. Empty entries hold -1 twice; the capacity is a power of
two and at least twice the edges. A key is `node << 31 | symbol`, so nodes may go up to 2**32.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.jit import helper

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio


@helper
def edge_key(node, symbol):
    """The key of an edge."""
    return (np.int64(node) << 31) | np.int64(symbol)


@helper
def find_edge(edges, node, symbol):
    """Index of an edge, or of the empty entry where it would go; `edges[2 * index + 1]` is its value. O(1) expected."""
    mask = (edges.size >> 1) - 1
    key = edge_key(node, symbol)
    h = np.uint64(key) * _MULTIPLIER
    i = np.int64((h ^ (h >> np.uint64(32))) & np.uint64(mask))
    while edges[2 * i] != key and edges[2 * i] != -1:
        i = (i + 1) & mask
    return i
