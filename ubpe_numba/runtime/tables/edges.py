"""Edges of a trie or an automaton, (node, symbol) -> int64, in an open addressing hash table with linear probing.

`edges` is EDGE[capacity], 16 bytes each, key and value side by side: one cache line a step. The capacity is a power of two and at
least twice the number of edges, so that every search ends; an empty entry holds -1 twice.

       key                       value
    0  -1                        -1            empty
    1  node << 31 | symbol       any int64     from 0 on; nodes may go up to 2**32
    2  node' << 31 | symbol'     ...           its hash was 1 too: it went to the next free entry

The edge (5, 7) has the key 5 << 31 | 7. It is looked for from its home on, until the key or an empty entry is found; the value
of an empty entry says that there is no such edge. Its home is in the block of 8 entries, two cache lines, of `hash(0 << 31 | 7)`,
the entry 5 & 7 of it: of nodes that are numbered one after the other, as those of a long run of one symbol are, 8 edges by this
symbol are side by side. A walk along a token of 65,536 symbols or more, which are in no cache, has an eighth of the misses.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.jit import helper

EDGE = np.dtype([("key", np.int64), ("value", np.int64)])
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio
_BLOCK = 7  # entries of a block, less one


@helper
def edge_key(node, symbol):
    """The int64 key of an edge: `(5, 7)` -> `5 << 31 | 7`."""
    return (np.int64(node) << 31) | np.int64(symbol)


@helper
def find_edge(edges, node, symbol):
    """Index of an edge, or of the empty entry where it would go; `edges[index].value` is its value, -1 if there is none.

    edges EDGE[capacity], only read. O(1) expected.
    """
    mask = edges.size - 1
    key = edge_key(node, symbol)
    place = np.int64(node) & _BLOCK
    h = np.uint64(key ^ (place << 31)) * _MULTIPLIER
    i = ((np.int64(h ^ (h >> np.uint64(32))) & ~_BLOCK) | place) & mask
    while edges[i].key != key and edges[i].key != -1:
        i = (i + 1) & mask
    return i
