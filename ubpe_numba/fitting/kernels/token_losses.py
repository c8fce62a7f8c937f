"""What the tokens of a vocabulary are worth to the segmentation of fewest tokens.

F[p] is the fewest tokens of what stands before position p, N[p] of what follows. Where the best path holds a token, a path
without it goes through a position p inside it, and has F[p] + N[p] tokens at least. The least of these against the best is what
the occurrence saves. With the tokens a, b and ab, the document abab:

    position    0   1   2   3   4
    F           0   1   1   2   2
    N           2   2   1   1   0         best: 2 tokens, ab ab

Without the first ab the path goes through 1: F[1] + N[1] = 3, so it saves one token.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import kernel
from ubpe_numba.runtime.tables.trie import NONE, step


@kernel
def token_losses(symbols, offsets, weights, trie, scratch, counts, losses):
    """Add up, per token, its occurrences in the paths of fewest tokens and how many more tokens paths without them have.

    symbols int32 (alphabet ids), offsets int64[d + 1], weights int64[d]; trie (tables/trie.py) of all tokens; scratch
    int32[4, n + 1], n symbols in the longest document; counts, losses int64[V], added to. Nothing is allocated. Returns the
    number of tokens of all paths, by weight. Of paths of equal length the one with the shortest first token. O(symbols * depth
    of the trie).

    Tokens 0, 1 and 2 = [0, 1], the documents [0, 1] and [0] of weight 1: counts [1, 0, 1], losses [0, 0, 1], the result is 2.
    """
    behind, ahead, token, following = scratch[0], scratch[1], scratch[2], scratch[3]
    total = np.int64(0)
    for d in range(offsets.size - 1):
        document = symbols[offsets[d] : offsets[d + 1]]
        n = document.size
        behind[n] = 0
        for s in range(n - 1, -1, -1):
            node = np.int64(document[s])
            best = behind[s + 1]
            best_token = np.int32(node)
            best_end = s + 1
            e = s + 1
            while e < n:
                payload = step(trie, node, document[e])
                if payload < 0:
                    break
                node = payload & 0xFFFFFFFF
                e += 1
                if payload >> 32 != NONE and behind[e] < best:
                    best = behind[e]
                    best_token = np.int32(payload >> 32)
                    best_end = e
            behind[s] = best + 1
            token[s] = best_token
            following[s] = best_end
            ahead[s + 1] = n
        ahead[0] = 0
        for s in range(n):
            node = np.int64(document[s])
            one_more = ahead[s] + 1
            ahead[s + 1] = min(ahead[s + 1], one_more)
            e = s + 1
            while e < n:
                payload = step(trie, node, document[e])
                if payload < 0:
                    break
                node = payload & 0xFFFFFFFF
                e += 1
                if payload >> 32 != NONE:
                    ahead[e] = min(ahead[e], one_more)
        w = weights[d]
        total += np.int64(behind[0]) * w
        s = np.int64(0)
        while s < n:
            e = np.int64(following[s])
            t = token[s]
            counts[t] += w
            least = np.int64(n + 1)
            for p in range(s + 1, e):
                least = min(least, np.int64(ahead[p] + behind[p]))
                if least == behind[0]:
                    break
            if e - s > 1:
                losses[t] += (least - behind[0]) * w
            s = e
    return total
