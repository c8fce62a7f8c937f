"""Edges of tries and automata in a hash table, and the trie of all tokens.

An edge is (node, symbol) -> int64, in an open addressing hash table with linear probing. `edges` is
EDGE[capacity], 16 bytes each, key and value side by side: one cache line a step. The capacity is a power of
two and at least twice the number of edges, so that every search ends; an empty entry holds -1 twice.

       key                       value
    0  -1                        -1            empty
    1  node << 31 | symbol       any int64     from 0 on; nodes may go up to 2**32
    2  node' << 31 | symbol'     ...           its hash was 1 too: it went to the next free entry

The edge (5, 7) has the key 5 << 31 | 7. The search goes from its home on, until the key or an empty entry is
found; an empty entry means that the edge does not exist. Its home is in the block of 8 entries, two cache
lines, of `hash(0 << 31 | 7)`: entry 5 & 7 of it. For consecutive nodes, such as those of a long run of a
symbol, 8 edges by this symbol are side by side. So a walk along a token of 65,536 symbols or more, which is
not cached, has an eighth of the misses.

The trie finds the tokens that start at a position of a document. Node s < n_alphabet is the symbol s itself;
further nodes are numbered in order of creation. The value of an edge is `token << 32 | child`, with NONE for
a child that is not a token. Among tokens with the same symbols the last is found, as published.

The alphabet 0, 1 and the tokens 2 = [0, 1, 1], 3 = [0, 1], 4 = [1, 0]:

    0 --1--> 2 --1--> 3         edge    value
    1 --0--> 4                  (0, 1)  3 << 32 | 2       token 3 is entered later; at first NONE << 32 | 2
                                (2, 1)  2 << 32 | 3
                                (1, 0)  4 << 32 | 4

From the start of the document [0, 1, 0], the walk passes node 0, which is the symbol, and node 2, which is
token 3. The edge (2, 0) does not exist.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper, kernel

EDGE = np.dtype([("key", np.int64), ("value", np.int64)])
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio
_BLOCK = 7  # entries of a block, less one
NONE = 0x7FFFFFFF


@helper
def edge_key(node, symbol):
    """The int64 key of an edge: `(5, 7)` -> `5 << 31 | 7`."""
    return (np.int64(node) << 31) | np.int64(symbol)


@helper
def find_edge(edges, node, symbol):
    """Index of an edge, or of the empty entry for it.

    `edges[index].value` is its value, -1 if the edge is missing.

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


@helper
def step(trie, node, symbol):
    """`token << 32 | child` of the edge from a node by a symbol, or -1 if there is none. trie EDGE[capacity].

    O(1) expected.
    """
    return trie[find_edge(trie, node, symbol)].value


@kernel
def _enter_tokens(n_alphabet, arena, lengths, trie):
    """Enter the tokens n_alphabet, n_alphabet + 1, ... into a trie full of -1.

    O(symbols); see the example above.

    `arena` int32, the symbols of all tokens one after the other, lengths int64[V] how many each has. `trie`
    EDGE[capacity], a power of two of at least twice the symbols of learned tokens, allocated by the caller.
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
