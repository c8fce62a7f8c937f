"""WordPiece: each word is cut greedily into the longest pieces of a vocabulary, from its beginning.

Pieces inside of a word are others than those at its beginning ("##" before them), so a character inside of a word is a symbol of
its own: with a as 0 and 1, b as 2 and 3, the pieces a, ab and ##b are [0], [0, 3] and [3], and the word abb is [0, 3, 3]:

    position    0           2
    symbols     0 3         3
    longest     ab          ##b

A word of which some part is no piece becomes one unknown id.
Source: M. Schuster and K. Nakajima, "Japanese and Korean voice search", 2012; greedy as in BERT, 2018.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.jit import kernel
from ubpe_numba.runtime.tables.trie import NONE, step


@kernel
def cut_words(symbols, offsets, trie, ids, unknown, longest, out, out_offsets):
    """Cut every word into pieces; returns the number of ids written.

    symbols int32, below 0 for a character of no piece; offsets int64[w + 1], of words; trie (tables/trie.py) of the pieces, ids
    int32, the id of each symbol and token of it, -1 for a symbol that is no piece; unknown, the id of a word that cannot be cut,
    or has more than `longest` symbols; out int32, room for all symbols and words; out_offsets int64[w + 1]. The caller allocates
    all. O(symbols * depth of the trie). An empty word has no pieces.

    The example above with ids 7, 8, 9 of a, ab, ##b and the words abb, ba: [8, 9], [unknown].
    """
    w = np.int64(0)
    out_offsets[0] = 0
    for i in range(offsets.size - 1):
        s, end = offsets[i], offsets[i + 1]
        first = w
        good = end - s <= longest
        while good and s < end:
            node = np.int64(symbols[s])
            if node < 0:
                good = False
                break
            best = np.int64(ids[node])
            best_end = s + 1
            e = s + 1
            while e < end and symbols[e] >= 0:
                payload = step(trie, node, symbols[e])
                if payload < 0:
                    break
                node = payload & 0xFFFFFFFF
                e += 1
                if payload >> 32 != NONE:
                    best = np.int64(ids[payload >> 32])
                    best_end = e
            if best < 0:
                good = False
                break
            out[w] = best
            w += 1
            s = best_end
        if not good:
            out[first] = unknown
            w = first + 1
        out_offsets[i + 1] = w
    return w
