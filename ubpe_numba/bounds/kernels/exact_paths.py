"""The truly best paths of a short document: all tails that can still be part of one, from the end.

What a tail weighs, the excess that is left for more of its tokens, and the dearest way from the start to it (token_prices.py)
together bound the weight of any path that ends with it. Tails whose bound is below a weight that is known to be reached are
dropped. Of tails that start at one position and hold the same tokens equally often only the first few are kept, since whatever is
put before them weighs the same; sums of random numbers tell bags apart quickly, and where sums are equal the tokens are compared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ubpe_numba.coding.kernels.best_path import gain_of
from ubpe_numba.runtime.compiler import helper, kernel

TAIL = np.dtype(
    [
        ("score", np.float64),  # what it costs at the prices, but no token more than its steps; and the excess
        ("weight", np.float64),
        ("bag", np.int64),  # the sum of the marks of its tokens
    ]
)
LINK = np.dtype(  # apart from the rest of a tail: tails are walked along, and fewer bytes are faster
    [
        ("behind", np.int32),  # the tail behind the first token, -1 for the empty one
        ("first", np.int32),  # the first token
        ("n_tokens", np.int32),
        ("twins", np.int32),  # how many tails of the bag came before
    ]
)


class Scratch(NamedTuple):
    """Room for m tails of a document of n symbols. Kernels take it as a plain tuple."""

    tails: np.ndarray  #: TAIL[m], a result; 0 is the empty tail
    links: np.ndarray  #: LINK[m], likewise
    first: np.ndarray  #: int64[2, n + 1], likewise: tails first[0, s] to first[1, s] start at position s
    table: np.ndarray  #: int32 of -1, a power of two above 2 m: tails by bag
    balance: np.ndarray  #: int32[V] of zeros, left so


@helper
def same_bag(a, b, links, balance):
    """Whether two tails hold the same tokens equally often; balance int32[V] of zeros, left so. O(tokens before they meet).

    [2, 0, 1, 3] and [0, 2, 1, 3], which meet at [1, 3]: balance is +1 - 1 for 2 and for 0, so they do.
    """
    u, v = np.int64(a), np.int64(b)
    # parents have lower numbers: the younger steps back, until both are one
    while u != v:
        if u > v:
            balance[links[u].first] += 1
            u = np.int64(links[u].behind)
        else:
            balance[links[v].first] -= 1
            v = np.int64(links[v].behind)
    same = True
    for start in (np.int64(a), np.int64(b)):
        w = start
        while w != u:
            if balance[links[w].first] != 0:
                same = False
                balance[links[w].first] = 0
            w = np.int64(links[w].behind)
    return same


@kernel
def exact_tails(bounds, matches, scaled_idf, logs, prices, value, over, least, marks, copies, effort, scratch):
    """All tails that may belong to a path of at least `least`; returns how many, or -1 if there are too many.

    bounds, matches of list_matches; scaled_idf float64[V]; logs float64; prices, value and the excess `over` of find_prices;
    least, in fixed point; marks int64[V], random; copies, how many tails of one bag are kept; effort, how many steps may be
    walked; scratch and results, a `Scratch` as a plain tuple, allocated by the caller. Tails of one position are in the order of
    the lengths of their first tokens. O(effort).

    Token 2 = [0, 1] in [0, 1], least 0: the tails 0: [], 1: [1], 2: [0, 1], 3: [2]; first = [[2, 1, 0], [4, 2, 1]]. With
    `least` the weight of [2], only [] and [2] are kept.
    """
    tails, links, first, table, balance = scratch
    n = bounds.size - 1
    mask = np.int64(table.size - 1)
    tails[0].score = over
    tails[0].weight = 0.0
    tails[0].bag = 0
    links[0].behind = -1
    links[0].first = -1
    links[0].n_tokens = 0
    first[0, n], first[1, n] = 0, 1
    m = np.int64(1)
    for s in range(n - 1, -1, -1):
        first[0, s] = m
        for q in range(bounds[s] - 1, bounds[s + 1] - 1, -1):  # shortest first
            t, e = matches[q].token, matches[q].end
            for i in range(first[0, e], first[1, e]):
                count = np.int64(0)
                effort -= 1
                if scaled_idf[t] > 0.0:
                    v = np.int64(i)
                    while v > 0:
                        if links[v].first == t:
                            count += 1
                        v = np.int64(links[v].behind)
                    effort -= links[i].n_tokens
                if effort < 0:
                    return np.int64(-1)
                step = gain_of(scaled_idf[t], count, logs)
                x = tails[i].score + min(step, prices[t])
                if x + value[s] < least:
                    continue
                if m == tails.size:
                    return np.int64(-1)
                # the new tail, if it is not one too many of its bag
                tails[m].score = x
                tails[m].weight = tails[i].weight + step
                tails[m].bag = tails[i].bag + marks[t]
                links[m].behind = i
                links[m].first = t
                links[m].n_tokens = links[i].n_tokens + 1
                links[m].twins = 0
                k = (tails[m].bag ^ (tails[m].bag >> 29)) & mask
                while table[k] >= first[0, s]:  # what is older is of another position
                    twin = table[k]
                    if tails[twin].bag == tails[m].bag:
                        effort -= 2 * links[m].n_tokens
                        if same_bag(m, twin, links, balance):
                            links[twin].twins += 1
                            links[m].twins = links[twin].twins
                            break
                    k = (k + 1) & mask
                if links[m].twins >= copies:
                    continue
                if links[m].twins == 0:
                    table[k] = m
                m += 1
        first[1, s] = m
    return m


@kernel
def read_tails(chosen, links, offsets, ids):
    """Write the tokens of the chosen tails, int64[k], to ids[offsets[i] : offsets[i + 1]]. O(tokens).

    links LINK[m]; offsets int64[k + 1], ids int32[offsets[k]], allocated by the caller. Of the tails above, chosen [3, 2] with
    the offsets [0, 1, 3]: ids [2, 0, 1].
    """
    for i in range(chosen.size):
        v = chosen[i]
        for w in range(offsets[i], offsets[i + 1]):
            ids[w] = links[v].first
            v = np.int64(links[v].behind)
