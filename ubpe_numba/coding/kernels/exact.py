"""The truly best paths of a short document: all tails that can still be part of one, from the end.

A tail that weighs W, with the excess that is left for more of its tokens and the dearest way from the start to it (prices.py),
bounds what any path that ends with it weighs. Those that stay below a weight that is known to be reached are dropped. Of tails
that start at one position and hold the same tokens equally often only the first few are kept, since whatever is put before
them weighs the same; sums of random numbers tell bags apart quickly, and equal sums are looked into, so that nothing is left to
chance.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.kernels.best_path import gain_of
from ubpe_numba.runtime.jit import helper, kernel

# columns of `link`: the tail behind the first token, the first token, tokens in all, how many tails of the bag came before
BEHIND, FIRST, N_TOKENS, TWINS = range(4)


@helper
def same_bag(a, b, link, balance):
    """Whether two tails hold the same tokens equally often; balance int32[V] of zeros, left so. O(tokens before they meet)."""
    u, v = np.int64(a), np.int64(b)
    # parents have lower numbers: the younger steps back, until both are one
    while u != v:
        if u > v:
            balance[link[u, FIRST]] += 1
            u = np.int64(link[u, BEHIND])
        else:
            balance[link[v, FIRST]] -= 1
            v = np.int64(link[v, BEHIND])
    same = True
    for start in (np.int64(a), np.int64(b)):
        w = start
        while w != u:
            if balance[link[w, FIRST]] != 0:
                same = False
                balance[link[w, FIRST]] = 0
            w = np.int64(link[w, BEHIND])
    return same


@kernel
def exact_tails(
    bounds, tokens, ends, scaled_idf, logs, prices, value, over, least, marks, copies, effort,
    score, weight, bag, link, first, table, balance,
):  # fmt: skip
    """All tails that may belong to a path of at least `least`; returns how many, or -1 if there are too many.

    bounds, tokens, ends of list_matches; prices, value and the excess `over` of find_prices; scaled_idf float64[V]; logs float64;
    least, in fixed point; marks int64[V], random; copies, how many tails of one bag are kept; effort, how many steps may be
    walked. Room for as many tails as may be: score, weight float64[m], bag int64[m], link int32[m, 4]. Scratch: table int32 of
    -1, a power of two above 2 m; balance int32[V] of zeros.
    Results: tails first[0, s] to first[1, s], int64[2, n + 1], start at position s; those of one position are in the order of the
    lengths of their tokens, first to last. O(effort).
    """
    n = bounds.size - 1
    mask = np.int64(table.size - 1)
    score[0], weight[0], bag[0] = over, 0.0, 0
    link[0, BEHIND] = -1
    link[0, FIRST] = -1
    link[0, N_TOKENS] = 0
    first[0, n], first[1, n] = 0, 1
    m = np.int64(1)
    for s in range(n - 1, -1, -1):
        first[0, s] = m
        for q in range(bounds[s] - 1, bounds[s + 1] - 1, -1):  # shortest first
            t, e = tokens[q], ends[q]
            for i in range(first[0, e], first[1, e]):
                count = np.int64(0)
                effort -= 1
                if scaled_idf[t] > 0.0:
                    v = np.int64(i)
                    while v > 0:
                        if link[v, FIRST] == t:
                            count += 1
                        v = np.int64(link[v, BEHIND])
                    effort -= link[i, N_TOKENS]
                if effort < 0:
                    return np.int64(-1)
                step = gain_of(scaled_idf[t], count, logs)
                x = score[i] + min(step, prices[t])
                if x + value[s] < least:
                    continue
                if m == score.size:
                    return np.int64(-1)
                # the new tail, if it is not one too many of its bag
                score[m] = x
                weight[m] = weight[i] + step
                bag[m] = bag[i] + marks[t]
                link[m, BEHIND] = i
                link[m, FIRST] = t
                link[m, N_TOKENS] = link[i, N_TOKENS] + 1
                link[m, TWINS] = 0
                k = (bag[m] ^ (bag[m] >> 29)) & mask
                while table[k] >= first[0, s]:  # what is older is of another position
                    twin = table[k]
                    if bag[twin] == bag[m]:
                        effort -= 2 * link[m, N_TOKENS]
                        if same_bag(m, twin, link, balance):
                            link[twin, TWINS] += 1
                            link[m, TWINS] = link[twin, TWINS]
                            break
                    k = (k + 1) & mask
                if link[m, TWINS] >= copies:
                    continue
                if link[m, TWINS] == 0:
                    table[k] = m
                m += 1
        first[1, s] = m
    return m


@kernel
def read_tails(chosen, link, offsets, ids):
    """Write the tokens of the chosen tails, int64[k], to ids[offsets[i] : offsets[i + 1]]. O(tokens)."""
    for i in range(chosen.size):
        v = chosen[i]
        for w in range(offsets[i], offsets[i + 1]):
            ids[w] = link[v, FIRST]
            v = np.int64(link[v, BEHIND])
