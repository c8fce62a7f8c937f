"""The trie of all tokens: which tokens start at a position of a document.

Node s < n_alphabet is the symbol s itself; further nodes are numbered as they are made. The value of an edge (edges.py) is
`token << 32 | child`, with NONE for a child that is no token. Where two tokens stand for the same symbols the later one is found,
as published.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.jit import helper, kernel
from ubpe_numba.runtime.tables.edges import edge_key, find_edge

NONE = 0x7FFFFFFF


@helper
def step(entries, node, symbol):
    """`token << 32 | child` of an edge, or -1 if there is none. O(1) expected."""
    return entries[2 * find_edge(entries, node, symbol) + 1]


def entries_for(n_symbols):
    """Empty entries for tokens of so many symbols together: int64[2 * capacity], at most half full."""
    return np.full(4 << max(4, int(n_symbols).bit_length()), -1, np.int64)


@kernel
def build(n_alphabet, arena, offsets, entries):
    """Enter the tokens n_alphabet, n_alphabet + 1, ... of two symbols or more.

    entries int64[2 * capacity], filled with -1, capacity a power of two of at least twice the symbols. Returns the number of
    nodes. O(symbols).
    """
    n_nodes = np.int64(n_alphabet)
    for t in range(n_alphabet, offsets.size - 1):
        node = np.int64(arena[offsets[t]])
        for j in range(offsets[t] + 1, offsets[t + 1]):
            i = find_edge(entries, node, arena[j])
            if entries[2 * i] == -1:
                entries[2 * i] = edge_key(node, arena[j])
                entries[2 * i + 1] = (np.int64(NONE) << 32) | n_nodes
                n_nodes += 1
            node = entries[2 * i + 1] & 0xFFFFFFFF
            if j == offsets[t + 1] - 1:
                entries[2 * i + 1] = (np.int64(t) << 32) | node
    return n_nodes - n_alphabet
