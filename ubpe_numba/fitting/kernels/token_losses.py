"""What the tokens of a vocabulary are worth to the segmentation of fewest tokens.

Where the best path holds a token, it might do without by going through a position inside it; that costs F[p] + N[p] tokens in
all, the fewest before p and the fewest behind. The least of these against the best is what the occurrence saves.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.jit import kernel
from ubpe_numba.runtime.tables.trie import NONE, step


@kernel
def token_losses(symbols, offsets, trie, scratch, counts, losses):
    """Add up, per token, its occurrences in the paths of fewest tokens and how many more tokens doing without them costs.

    symbols int32 (alphabet ids), offsets int64[d + 1]; trie (trie.py) of all tokens; counts, losses int64[V], added to; returns
    the number of tokens of all paths. Ties: the shortest first token. Token 2 = [0, 1] of the document [0, 1]: counts 1,
    loses 1. Scratch: int32[4, longest document + 1]. O(symbols * depth of the trie).
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
        total += behind[0]
        s = np.int64(0)
        while s < n:
            e = np.int64(following[s])
            t = token[s]
            counts[t] += 1
            least = np.int64(n + 1)
            for p in range(s + 1, e):
                least = min(least, np.int64(ahead[p] + behind[p]))
                if least == behind[0]:
                    break
            if e - s > 1:
                losses[t] += least - behind[0]
            s = e
    return total
