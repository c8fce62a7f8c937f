"""The most probable path as sentencepiece finds it: from the beginning, in float32, and of equal sums the longest last token.

Where a sum is beyond 100,000, sentencepiece (0.2.3) counts from there on anew, so that units of float32 stay below a hundredth;
what a hundred thousand symbols before has been rounded to does not matter then. tokenizers searches in the same order, with sums
in float64, and never starts anew.

`cheapest_path.py` finds a path that is as probable, or by some units of float32 more. The two differ where sums are equal, which
is often so where tokens are made of the same tokens in another order. This one gives sentencepiece's ids.

Symbols 0 and 1 of score -3, tokens 2 = [0, 1] and 3 = [1, 0] of score -2, the document [0, 1, 0]:

    end        1       2       3
    best      -3      -2      -5       of [2, 0] and of [0, 3]
    start      0       0       1       token 3, which starts earlier than the symbol 0 at 2
    token      0       2       3       [0, 3]; from the end, with the longest first token, it is [2, 0]
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.jit import kernel
from ubpe_numba.runtime.tables.trie import NONE, step

_ANEW = 100_000.0  # the sum beyond which it is counted anew


@kernel
def forward_paths(symbols, offsets, trie, scores, single, best, tree, out, out_offsets):
    """The most probable path of every document; returns the number of ids written.

    symbols int32 (alphabet ids), offsets int64[d + 1]; trie (tables/trie.py) of all tokens; scores float64[V]; single: whether
    sums are those of float32, as above; out int32, room for all symbols; out_offsets int64[d + 1]. Scratch for a longest document
    of n symbols: best float64[n + 1], tree int32[2, n + 1], where the last token up to a position starts, and which it is. The
    caller allocates all. O(symbols * depth of the trie).

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
        best[0] = 0.0
        last = np.int64(0)  # the last position that a token ends at, so far
        for s in range(n):
            here = best[s]
            if single and abs(here) > _ANEW:
                for e in range(s, last + 1):
                    if e == s or start[e] >= 0:
                        best[e] = np.float64(np.float32(best[e] - here))
                here = 0.0
            node = np.int64(document[s])
            e = s + 1
            t = node
            while True:
                if t != NONE:
                    x = here + scores[t]
                    if single:
                        x = np.float64(np.float32(x))
                    if start[e] < 0 or x > best[e]:
                        best[e] = x
                        start[e] = s
                        token[e] = t
                        last = max(last, e)
                if e == n:
                    break
                payload = step(trie, node, document[e])
                if payload < 0:
                    break
                node = payload & 0xFFFFFFFF
                t = payload >> 32
                e += 1
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
