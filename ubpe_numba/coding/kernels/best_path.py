"""The best path by tf-idf through the lattice of all segmentations of a document.

A path weighs sum over its distinct tokens of (1 + ln count) * idf, so what a token adds depends on how often the rest of the path
holds it: weights do not add up along a path. As the article has it, the search keeps the best tail at each position, from the
end; it is exact for that recursion, which is not always the true best path.

What makes it linear: the best tails form a tree (every position points to where the tail goes on), and the tails that are still
reachable from the left soon share a common suffix. The counts in that suffix lie in one dense array, and a question "how often
does this tail hold token t" walks only the few nodes before it, and only to the first that is t: a node knows how often its
token occurs from there on.

Weights are in fixed point, rint(idf * 2**24 * (1 + ln count)) held in float64, so that equal multisets weigh equally.
Source: UBPE tokenizers, part 2.
"""

from __future__ import annotations

import math

import numpy as np

from ubpe_numba.runtime.jit import helper, kernel
from ubpe_numba.runtime.tables.automaton import DEPTH, LONGEST, TOKEN, advance, longest_match

_LONG_WALK = 24  # steps after which the answer is worth remembering
_CUT = np.int32(1 << 30)  # child count of a node that left the tree


@helper
def weight_of(scaled_idf, count, logs):
    """Fixed-point weight of `count` occurrences; `scaled_idf` is idf * 2**24, `logs[c]` is 1 + ln c. O(1)."""
    if count == 0:
        return 0.0
    if count < logs.size:
        return np.rint(scaled_idf * logs[count])
    return np.rint(scaled_idf * (1.0 + math.log(count)))


@helper
def gain_of(scaled_idf, count, logs):
    """What one more occurrence adds to `count`. O(1)."""
    return weight_of(scaled_idf, count + 1, logs) - weight_of(scaled_idf, count, logs)


@kernel
def best_paths(
    symbols, offsets, edges, states, scaled_idf, logs, weight, n_tokens, tree, counts, asked_at, out, out_offsets, weights
):
    """The best path of every document; returns the number of ids written.

    symbols int32 (alphabet ids), offsets int64[d + 1]; edges, states as automaton.py builds them; scaled_idf float64[V], 0 for
    symbols; logs float64; out int32, room for all symbols; out_offsets int64[d + 1]; weights float64[d], fixed point. At a
    position the heavier tail wins, then fewer tokens, then the shorter first token.

    Scratch: weight float64 and n_tokens int32, a power of two of entries, two more than the longest token at least, of the best
    tail of the positions within reach; tree int32[5, longest document + 1]; counts int32[2, V] of zeros and asked_at int64[V] of
    -1. O(symbols + matches) and the short walks.
    """
    ring = np.int64(weight.size - 1)
    following, token = tree[0], tree[1]  # where the best tail goes on, and with which token
    own = tree[4]  # how often the best tail holds its first token
    children, child_xor = tree[2], tree[3]  # how many tails go on here; the only one, if there is one
    common = counts[0]  # counts in the suffix that all live tails share
    # per token a node of a long walk, asked_at, and the count from there on: without it periodic text, whose tails never meet,
    # is quadratic
    asked = counts[1]
    w = np.int64(0)
    out_offsets[0] = 0
    for d in range(offsets.size - 1):
        document = symbols[offsets[d] : offsets[d + 1]]
        n = document.size
        root = np.int64(n)  # the common suffix starts here
        children[n] = 0
        child_xor[n] = 0
        weight[n & ring] = 0.0
        n_tokens[n & ring] = 0
        alive = np.int64(n)  # nodes above this position left the tree unless they carry others
        state = np.int64(-1)
        for s in range(n - 1, -1, -1):
            symbol = document[s]
            state = advance(edges, states, state, symbol)
            best_end = np.int64(s + 1)
            best = weight[best_end & ring]
            best_n = n_tokens[best_end & ring] + 1
            best_token = symbol
            best_own = np.int64(0)  # nobody asks for a symbol
            match = longest_match(states, state)
            while match >= 0:  # longest first
                t = states[match, TOKEN]
                e = s + np.int64(states[match, DEPTH])
                match = np.int64(states[match, LONGEST])
                tail = weight[e & ring]
                tail_n = n_tokens[e & ring] + 1
                x = tail
                count = np.int64(0)
                if scaled_idf[t] > 0.0:
                    count = np.int64(common[t])
                    # at most what it would add if the tail held it in the common part only, but for rounding
                    x += gain_of(scaled_idf[t], count, logs)
                    if x + 2.0 < best:
                        continue
                    v = e
                    steps = 0
                    known = asked_at[t] - offsets[d]
                    while v != root:
                        if token[v] == t:
                            count = np.int64(own[v])
                            break
                        if v == known:
                            count = np.int64(asked[t])
                            break
                        v = np.int64(following[v])
                        steps += 1
                    if steps > _LONG_WALK:
                        asked_at[t] = e + offsets[d]
                        asked[t] = count
                    if count > common[t]:
                        x = tail + gain_of(scaled_idf[t], count, logs)
                if x > best or (x == best and (tail_n < best_n or (tail_n == best_n and e < best_end))):
                    best = x
                    best_n = tail_n
                    best_end = e
                    best_token = t
                    best_own = count + 1
            own[s] = best_own
            weight[s & ring] = best
            n_tokens[s & ring] = best_n
            following[s] = best_end
            token[s] = best_token
            children[s] = 0
            child_xor[s] = 0
            children[best_end] += 1
            child_xor[best_end] ^= np.int32(s)
            # positions that nothing to the left can reach carry no tail of their own any more
            far = s + np.int64(states[state, DEPTH])
            while alive > far:
                v = alive
                alive -= 1
                while v != root and v > far and children[v] == 0:
                    u = np.int64(following[v])
                    children[u] -= 1
                    child_xor[u] ^= np.int32(v)
                    children[v] = _CUT
                    v = u
            while root > far and children[root] == 1:
                root = np.int64(child_xor[root])
                common[token[root]] += 1
        p = np.int64(0)
        while p < n:
            out[w] = token[p]
            w += 1
            p = np.int64(following[p])
        out_offsets[d + 1] = w
        weights[d] = weight[0]
        while root < n:
            common[token[root]] = 0
            root = np.int64(following[root])
    return w
