"""The trie of all tokens: which tokens start at a position of a document.

Node s < n_alphabet is the symbol s itself; further nodes are numbered as they are made. The value of an edge (edges.py) is
`token << 32 | child`, with NONE for a child that is no token. Where two tokens stand for the same symbols the later one is found,
as published.

Of the alphabet 0, 1 and the tokens 2 = [0, 1, 1], 3 = [0, 1], 4 = [1, 0]:

    0 --1--> 2 --1--> 3         edge    value
    1 --0--> 4                  (0, 1)  3 << 32 | 2       token 3 is entered later; first it was NONE << 32 | 2
                                (2, 1)  2 << 32 | 3
                                (1, 0)  4 << 32 | 4

From the start of the document [0, 1, 0], the walk passes node 0, which is the symbol, and node 2, which is token 3; there is no
edge (2, 0).
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.jit import helper, kernel
from ubpe_numba.runtime.tables.edges import EDGE, edge_key, find_edge

NONE = 0x7FFFFFFF


@helper
def step(trie, node, symbol):
    """`token << 32 | child` of the edge from a node by a symbol, or -1 if there is none. trie EDGE[capacity]. O(1) expected."""
    return trie[find_edge(trie, node, symbol)].value


@kernel
def _enter_tokens(n_alphabet, arena, lengths, trie):
    """Enter the tokens n_alphabet, n_alphabet + 1, ... into a trie full of -1. O(symbols); the example is drawn above.

    arena int32, the symbols of all tokens one behind the other, lengths int64[V] how many each has; trie EDGE[capacity], a power
    of two of at least twice the symbols of learned tokens, allocated by the caller.
    """
    n_nodes = np.int64(n_alphabet)
    start = np.int64(n_alphabet)
    for t in range(n_alphabet, lengths.size):
        node = np.int64(arena[start])
        end = start + lengths[t]
        for j in range(start + 1, end):
            i = find_edge(trie, node, arena[j])
            if trie[i].key == -1:
                trie[i].key = edge_key(node, arena[j])
                trie[i].value = (np.int64(NONE) << 32) | n_nodes
                n_nodes += 1
            node = trie[i].value & 0xFFFFFFFF
            if j == end - 1:
                trie[i].value = (np.int64(t) << 32) | node
        start = end


def trie_of(n_alphabet, arena, lengths):
    """The trie of the tokens of two symbols or more: EDGE[capacity]; arguments as for `_enter_tokens`."""
    trie = np.full(4 << max(4, (arena.size - n_alphabet).bit_length()), -1, np.int64).view(EDGE)
    _enter_tokens(n_alphabet, arena, lengths, trie)
    return trie
