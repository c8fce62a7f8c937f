"""Prices of tokens: the most that any path of a document can weigh, and the truly best paths of a short one.

The weight of a token grows with its count c in falling steps, so weights do not add up. Pay for every
occurrence of t a price b_t instead, whatever its count. Then a path adds up, and the dearest is found by
plain dynamic programming. Whatever the prices, no path weighs more than the dearest costs, plus, for every
token, the excess of its steps over the price,

    sum over t of sum over c < occurrences of max(0, F_t(c + 1) - F_t(c) - b_t),   F_t(c) the weight of c
    occurrences,

since a step is at most its price and that excess. A good price is the gain from one more occurrence in the
best path. So the dearest paths of several passes are averaged, and prices follow from the averaged counts:
the method of M. Frank and P. Wolfe (1956) for the best mixture of paths. All sums are of whole numbers, exact
in float64 below 2**53.

The truly best paths are found from the end, by all tails that can still be part of a best path. Three numbers
bound the weight of any path with a tail: its weight, the remaining excess for its tokens, and the dearest way
from the start to it. Tails whose bound is below a known weight are dropped. Among tails that start at one
position and hold the same tokens equally often, only the first few are kept, since the same tokens before
them give the same weights. Sums of random numbers compare bags quickly; if sums are equal, tokens are
compared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ubpe_numba.coding.kernels.best_path import gain_of, weight_of
from ubpe_numba.runtime.compiler import helper, kernel
from ubpe_numba.runtime.tables.automaton import advance, longest_match

MATCH = np.dtype([("token", np.int32), ("end", np.int32)])  # a token and the position after it
TAIL = np.dtype(
    [
        # its cost at the prices, with every token limited to its steps; and the excess
        ("score", np.float64),
        ("weight", np.float64),
        ("bag", np.int64),  # the sum of the marks of its tokens
    ]
)
LINK = np.dtype(  # apart from the rest of a tail: tails are walked along, and fewer bytes are faster
    [
        ("rest", np.int32),  # the tail after the first token, -1 for the empty one
        ("first", np.int32),  # the first token
        ("n_tokens", np.int32),
        ("twins", np.int32),  # how many tails of the bag came before
    ]
)


class Scratch(NamedTuple):
    """Room for m tails of a document of n symbols. Kernels take it as a plain tuple."""

    tails: np.ndarray  #: TAIL[m], a result; 0 is the empty tail
    links: np.ndarray  #: LINK[m], as above
    first: np.ndarray  #: int64[2, n + 1], as above: tails first[0, s] to first[1, s] start at position s
    table: np.ndarray  #: int32 of -1, a power of two above 2 m: tails by bag
    balance: np.ndarray  #: int32[V] of zeros, left so


@kernel
def list_matches(document, edges, states, bounds, matches):
    """List the tokens that start at each position; returns how many there are.

    They are written if they all fit.

    document int32[n]; edges, states as automaton.py builds them. Results, allocated by the caller: matches
    MATCH, as many as fit. `bounds` int64[n + 1]: position s has the matches bounds[s + 1] to bounds[s], the
    longest first, the symbol alone last. O(symbols + matches).

    Token 2 = [0, 1] of [0, 1]: matches [(1, 2), (2, 2), (0, 1)], bounds [3, 1, 0].
    """
    n = document.size
    m = np.int64(0)
    bounds[n] = 0
    state = np.int64(-1)
    for s in range(n - 1, -1, -1):
        state = advance(edges, states, state, document[s])
        match = longest_match(states, state)
        while match >= 0:
            if m < matches.size:
                matches[m].token = states[match].token
                matches[m].end = s + states[match].depth
            m += 1
            match = np.int64(states[match].longest)
        if m < matches.size:
            matches[m].token = document[s]
            matches[m].end = s + 1
        m += 1
        bounds[s] = m
    return m


@helper
def excess(scaled_idf, price, occurrences, logs):
    """By how much the steps of a weight exceed a price, summed over at most `occurrences` of them.

    O(steps above the price).

    Steps of 10, 7 and 4 at a price of 6: 4 + 1 = 5.
    """
    total = 0.0
    for c in range(occurrences):
        over = gain_of(scaled_idf, np.int64(c), logs) - price
        if over > 0.0:
            total += over
        elif over < -2.0:  # steps fall, apart from rounding
            break
    return total


@kernel
def find_prices(
    bounds, matches, distinct, scaled_idf, logs, passes, mean, occurrences, trial, prices, value, back
):
    """Find prices; returns what any path weighs at most, in fixed point, and the part of it that is excess.

    bounds, matches of list_matches. `distinct` int32, every token among them once. `scaled_idf` float64[V].
    `logs` float64. `mean` float64[V], counts of a good path to begin with, zeros elsewhere; it becomes the
    averaged counts. Scratch: occurrences int32[V] of zeros, becomes the number of matches of each token;
    trial float64[V]; back int32[n]. Results: prices float64[V] of the distinct tokens, zeros elsewhere as
    given; value float64[n + 1], the most that a way from the start to a position costs at these prices. The
    caller allocates all. O(passes * matches).

    Token 2 = [0, 1] of scaled idf 8 in [0, 1], mean[2] = 1. Its price is 8, value is [0, 0, 8]; a path weighs
    at most 8, excess 0.
    """
    n = bounds.size - 1
    for q in range(bounds[0]):
        occurrences[matches[q].token] += 1
    best, best_over = np.inf, 0.0
    for i in range(passes):
        over = 0.0
        for j in range(distinct.size):
            t = distinct[j]
            trial[t] = np.rint(scaled_idf[t] / max(1.0, mean[t]))
            over += excess(scaled_idf[t], trial[t], occurrences[t], logs)
        # the dearest way from every position to the end, and the match it begins with
        value[n] = 0.0
        for s in range(n - 1, -1, -1):
            dear, at = -1.0, np.int64(0)
            for q in range(bounds[s + 1], bounds[s]):
                x = value[matches[q].end] + trial[matches[q].token]
                if x > dear:
                    dear, at = x, q
            value[s] = dear
            back[s] = at
        if over + value[0] < best:
            best, best_over = over + value[0], over
            for j in range(distinct.size):
                prices[distinct[j]] = trial[distinct[j]]
        share = 1.0 / (i + 3.0)
        for j in range(distinct.size):
            mean[distinct[j]] *= 1.0 - share
        s = np.int64(0)
        while s < n:
            mean[matches[back[s]].token] += share
            s = np.int64(matches[back[s]].end)
    for s in range(1, n + 1):
        value[s] = -1.0
    value[0] = 0.0
    for s in range(n):
        for q in range(bounds[s + 1], bounds[s]):
            e = matches[q].end
            value[e] = max(value[e], value[s] + prices[matches[q].token])
    return best, best_over


@kernel
def weigh_paths(ids, offsets, scaled_idf, logs, counts, weights):
    """Weigh paths, ids int32 and offsets int64[m + 1], in fixed point: weights float64[m].

    scaled_idf float64[V], logs float64. Scratch: counts int32[V] of zeros, left so. The caller allocates all.
    O(ids). Scaled idf 8 of token 2: the paths [2, 0] and [2, 2] weigh 8 and rint(8 * 1.693...) = 14.
    """
    for i in range(offsets.size - 1):
        total = 0.0
        for j in range(offsets[i], offsets[i + 1]):
            counts[ids[j]] += 1
        for j in range(offsets[i], offsets[i + 1]):
            t = ids[j]
            total += weight_of(scaled_idf[t], np.int64(counts[t]), logs)
            counts[t] = 0
        weights[i] = total


@helper
def same_bag(a, b, links, balance):
    """Whether two tails hold the same tokens equally often; balance int32[V] of zeros, left so.

    O(tokens before they meet).

    [2, 0, 1, 3] and [0, 2, 1, 3], which meet at [1, 3]: balance is +1 - 1 for 2 and for 0, so they do.
    """
    u, v = np.int64(a), np.int64(b)
    # parents have lower numbers: the younger steps back, until both are one
    while u != v:
        if u > v:
            balance[links[u].first] += 1
            u = np.int64(links[u].rest)
        else:
            balance[links[v].first] -= 1
            v = np.int64(links[v].rest)
    same = True
    for start in (np.int64(a), np.int64(b)):
        w = start
        while w != u:
            if balance[links[w].first] != 0:
                same = False
                balance[links[w].first] = 0
            w = np.int64(links[w].rest)
    return same


@kernel
def exact_tails(
    bounds, matches, scaled_idf, logs, prices, value, over, least, marks, copies, effort, scratch
):
    """All tails that may belong to a path of at least `least`; returns how many, or -1 if there are too many.

    `bounds` and `matches` are those of list_matches. `scaled_idf` is float64[V], `logs` float64. `prices`,
    `value` and the excess `over` are those of find_prices. `least` is in fixed point. `marks` int64[V] is
    random. `copies` is how many tails of a bag are kept. `effort` is how many steps may be walked. `scratch`
    and results are a `Scratch` as a plain tuple, allocated by the caller. Tails of a position are in the
    order of the lengths of their first tokens. O(effort).

    Token 2 = [0, 1] in [0, 1], least 0: the tails 0: [], 1: [1], 2: [0, 1], 3: [2]; first = [[2, 1, 0], [4,
    2, 1]]. With `least` the weight of [2], only [] and [2] are kept.
    """
    tails, links, first, table, balance = scratch
    n = bounds.size - 1
    mask = np.int64(table.size - 1)
    tails[0].score = over
    tails[0].weight = 0.0
    tails[0].bag = 0
    links[0].rest = -1
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
                        v = np.int64(links[v].rest)
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
                links[m].rest = i
                links[m].first = t
                links[m].n_tokens = links[i].n_tokens + 1
                links[m].twins = 0
                k = (tails[m].bag ^ (tails[m].bag >> 29)) & mask
                while table[k] >= first[0, s]:  # older entries belong to another position
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

    `links` LINK[m], `offsets` int64[k + 1] and `ids` int32[offsets[k]] are allocated by the caller. For the
    tails above, chosen [3, 2] and the offsets [0, 1, 3]: ids [2, 0, 1].
    """
    for i in range(chosen.size):
        v = chosen[i]
        for w in range(offsets[i], offsets[i + 1]):
            ids[w] = links[v].first
            v = np.int64(links[v].rest)
