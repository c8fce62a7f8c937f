"""Finding the pairs of a table that has only pieces of characters and their order, as sentencepiece's models of BPE have it.

There two neighbours merge if what they join to is a piece, that of the highest score first. This is `pairs_of_ranks` for symbols
that are numbers instead of bytes: pieces are looked up in the trie of all of them (runtime/tables/trie.py), where the way from
the node of the left part through the symbols of the right one ends at the piece that both join to.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.formats.kernels.parts import NONE, lowest_rank
from ubpe_numba.runtime.compiler import helper, kernel
from ubpe_numba.runtime.tables.trie import step


@helper
def _joined(trie, node, symbols, begin, end):
    """The token that a part at `node` makes with the symbols from begin to end, NONE if none, and its node. O(symbols).

    trie EDGE[capacity], symbols int32.
    """
    token = np.int64(NONE)
    for i in range(begin, end):
        payload = step(trie, node, np.int64(symbols[i]))
        if payload < 0:
            return np.int64(NONE), np.int64(0)
        node = payload & 0xFFFFFFFF
        token = payload >> 32
    return token, node


@kernel
def pairs_of_pieces(arena, starts, n_alphabet, trie, ends, ranks, parts, nodes, pairs):
    """The two tokens that are merged last when each token is encoded by itself; -1 twice for one that is not made so.

    arena int32: the symbols of all tokens, starts int64[V + 1] where each begins, the n_alphabet symbols first, then by rank;
    trie EDGE[capacity] of them. ends, ranks, parts int32, nodes int64: scratch of the longest token (parts.py; `parts` are the
    tokens of the parts, `nodes` where these end in the trie). pairs int32[V - n_alphabet, 2], the result. The caller allocates
    all of it. O(length**2) a token.

    Symbols a, b, c are 0, 1, 2; tokens 3 = ab, 4 = abc, 5 = bcc: abc is ab c; bcc is b c c, of which no two join to a token:
    pairs are [[0, 1], [3, 2], [-1, -1]].
    """
    for t in range(n_alphabet, starts.size - 1):
        begin = starts[t]
        n = starts[t + 1] - begin
        for i in range(n):
            ends[i] = i + 1
            parts[i] = arena[begin + i]
            nodes[i] = arena[begin + i]
            ranks[i] = NONE
        for i in range(n - 1):
            token, _ = _joined(trie, nodes[i], arena, begin + i + 1, begin + i + 2)
            ranks[i] = token
        pairs[t - n_alphabet, 0] = -1
        pairs[t - n_alphabet, 1] = -1
        while ends[0] < n:
            at, before = lowest_rank(ends, ranks, n)
            if ranks[at] == NONE:
                break
            middle = np.int64(ends[at])
            end = np.int64(ends[middle])
            if at == 0 and end == n:
                pairs[t - n_alphabet, 0] = parts[0]
                pairs[t - n_alphabet, 1] = parts[middle]
                break
            token, node = _joined(trie, nodes[at], arena, begin + middle, begin + end)
            parts[at] = token
            nodes[at] = node
            ends[at] = end
            ranks[at] = NONE
            if end < n:
                token, _ = _joined(trie, nodes[at], arena, begin + end, begin + ends[end])
                ranks[at] = token
            if before >= 0:
                token, _ = _joined(trie, nodes[before], arena, begin + at, begin + end)
                ranks[before] = token
