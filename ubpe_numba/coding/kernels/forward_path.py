"""The most probable path as sentencepiece finds it: from the beginning, in float32, and of equal sums the longest last token.

`cheapest_path.py` finds a path that is as probable, or by some units of float32 more. The two differ where sums are equal, which
is often so where tokens are made of the same tokens in another order. This one gives sentencepiece's ids.

Symbols 0 and 1 of score -3, tokens 2 = [0, 1] and 3 = [1, 0] of score -2, the document [0, 1, 0]:

    end        1       2       3
    best      -3      -2      -5       of [2, 0] and of [0, 3]
    start      0       0       1       token 3, which starts earlier than the symbol 0 at 2
    token      0       2       3       [0, 3]; from the end, with the longest first token, it is [2, 0]

Sums of long documents would lose the digits by which paths differ: where the best sum of a position is beyond 100000, it is taken
off all sums from there on, as sentencepiece 0.2.3 does.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.jit import kernel
from ubpe_numba.runtime.tables.trie import NONE, step

_FAR = np.float32(100000.0)


@kernel
def forward_paths(symbols, offsets, trie, scores, best, tree, out, out_offsets):
    """The most probable path of every document; returns the number of ids written.

    symbols int32 (alphabet ids), offsets int64[d + 1]; trie (tables/trie.py) of all tokens; scores float32[V]; out int32, room
    for all symbols; out_offsets int64[d + 1]. Scratch for a longest document of n symbols: best float32[n + 1], tree int32[2, n +
    1], where the last token up to a position starts, and which it is. The caller allocates all. O(symbols * depth of the trie).

    The example above: [0, 3].
    """
    start, token = tree[0], tree[1]
    w = np.int64(0)
    out_offsets[0] = 0
    for d in range(offsets.size - 1):
        document = symbols[offsets[d] : offsets[d + 1]]
        n = document.size
        for e in range(1, n + 1):
            start[e] = -1
        best[0] = np.float32(0.0)
        end = np.int64(0)  # of the longest token so far
        for s in range(n):
            here = best[s]
            if abs(here) > _FAR:
                for e in range(s, end + 1):
                    if start[e] >= 0:
                        best[e] = np.float32(best[e] - here)
                here = np.float32(0.0)
            node = np.int64(document[s])
            x = np.float32(here + scores[node])
            if start[s + 1] < 0 or x > best[s + 1]:
                best[s + 1] = x
                start[s + 1] = s
                token[s + 1] = node
            e = s + 1
            while e < n:
                payload = step(trie, node, document[e])
                if payload < 0:
                    break
                node = payload & 0xFFFFFFFF
                e += 1
                t = payload >> 32
                if t != NONE:
                    end = max(end, e)
                    x = np.float32(here + scores[t])
                    if start[e] < 0 or x > best[e]:
                        best[e] = x
                        start[e] = s
                        token[e] = t
        e = np.int64(n)
        while e > 0:
            w += 1
            e = np.int64(start[e])
        i = w
        e = np.int64(n)
        while e > 0:  # from the last token to the first
            i -= 1
            out[i] = token[e]
            e = np.int64(start[e])
        out_offsets[d + 1] = w
    return w
