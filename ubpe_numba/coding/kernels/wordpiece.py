"""WordPiece: each word is split greedily, from its beginning, into the longest pieces.

Pieces inside a word differ from those at its beginning ("##" before them), so a character inside a word is a
symbol of its own. For n characters, c is the symbol c at the beginning and n + c inside. With a as 0 and 2, b
as 1 and 3, the pieces a, ab and ##b are [0], [0, 3] and [3]. The word abb is [0, 3, 3]:

    position    0           2
    symbols     0 3         3
    longest     ab          ##b

If some part of a word does not match any piece, the whole word becomes one unknown id. Source: M. Schuster
and K. Nakajima, "Japanese and Korean voice search", 2012; greedy as in BERT, 2018.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import kernel
from ubpe_numba.runtime.tables.trie import NONE, step


@kernel
def cut_words(characters, offsets, gap, inside, trie, ids, unknown, longest, out, out_offsets):
    """Cut every word into pieces; returns the number of ids written.

    `characters` int32 is negative for characters that occur in no piece. `offsets` int64[w + 1] delimit
    words. Each word is followed by `gap` more characters, which are skipped. `inside` is added to each
    character after the first of its word to get its symbol. `trie` (tables/trie.py) holds the pieces. `ids`
    int32 has the id of each symbol and token of the trie, -1 for a symbol that is not a piece itself.
    `unknown` is the id of a word that cannot be split, or has more than `longest` characters. `out` int32 has
    room for as many ids as characters. `out_offsets` is int64[w + 1]. The caller allocates all. O(characters
    * depth of the trie). An empty word gives nothing.

    The example above, gap = 0, inside = 2, ids 7, 8, 9 of a, ab, ##b, the words [0, 1, 1] and [1, 0]: [8, 9]
    and [unknown].
    """
    w = np.int64(0)
    out_offsets[0] = 0
    for i in range(offsets.size - 1):
        s, end = offsets[i], offsets[i + 1] - gap
        first = w
        shift = np.int64(0)
        good = end - s <= longest
        while good and s < end:
            if characters[s] < 0:
                good = False
                break
            node = np.int64(characters[s]) + shift
            shift = np.int64(inside)
            best = np.int64(ids[node])
            s += 1
            e = s
            while e < end and characters[e] >= 0:
                payload = step(trie, node, np.int64(characters[e]) + shift)
                if payload < 0:
                    break
                node = payload & 0xFFFFFFFF
                e += 1
                if payload >> 32 != NONE:
                    best = np.int64(ids[payload >> 32])
                    s = e
            if best < 0:
                good = False
                break
            out[w] = best
            w += 1
        if not good:
            out[first] = unknown
            w = first + 1
        out_offsets[i + 1] = w
    return w
