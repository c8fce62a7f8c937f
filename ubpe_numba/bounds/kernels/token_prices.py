"""Prices of tokens: what any path of a document can weigh at most.

The weight of a token grows with its count c in falling steps, so weights do not add up. Pay for every occurrence of t a price b_t
instead, whatever its count: a path then adds up, and the dearest is found by plain dynamic programming. Whatever the prices, no
path weighs more than that one costs, plus for every token what the steps exceed the price by,

    sum over t of sum over c < occurrences of max(0, F_t(c + 1) - F_t(c) - b_t),   F_t(c) the weight of c occurrences,

since a step is at most its price and that excess. Good prices are what one more occurrence is worth in the best path: the dearest
paths of several passes are averaged and the prices taken from the averaged counts, which is the method of M. Frank and P. Wolfe
(1956) for the best mixture of paths. All sums are of whole numbers, exact in float64 below 2**53.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.kernels.best_path import gain_of, weight_of
from ubpe_numba.runtime.compiler import helper, kernel
from ubpe_numba.runtime.tables.automaton import advance, longest_match

MATCH = np.dtype([("token", np.int32), ("end", np.int32)])  # a token and the position behind it


@kernel
def list_matches(document, edges, states, bounds, matches):
    """List the tokens that start at each position; returns how many there are, and writes them if they all fit.

    document int32[n]; edges, states as automaton.py builds them. Results, allocated by the caller: matches MATCH, as many as fit;
    bounds int64[n + 1]: position s has the matches bounds[s + 1] to bounds[s], the longest first, the symbol alone last.
    O(symbols + matches).

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
    """By how much the steps of a weight exceed a price, summed over at most `occurrences` of them. O(steps above the price).

    Steps of 10, 7 and 4 at a price of 6: 4 + 1 = 5.
    """
    total = 0.0
    for c in range(occurrences):
        over = gain_of(scaled_idf, np.int64(c), logs) - price
        if over > 0.0:
            total += over
        elif over < -2.0:  # steps fall but for rounding
            break
    return total


@kernel
def find_prices(bounds, matches, distinct, scaled_idf, logs, passes, mean, occurrences, trial, prices, value, back):
    """Find prices; returns what any path weighs at most, in fixed point, and the part of it that is excess.

    bounds, matches of list_matches; distinct int32, every token among them once; scaled_idf float64[V]; logs float64; mean
    float64[V], counts of a good path to begin with, zeros elsewhere; it is left behind as the averaged counts. Scratch:
    occurrences int32[V] of zeros, left behind as the number of matches of each token; trial float64[V]; back int32[n].
    Results: prices float64[V] of the distinct tokens, zeros elsewhere as given; value float64[n + 1], the most that a way from
    the start to a position costs at these prices. The caller allocates all. O(passes * matches).

    Token 2 = [0, 1] of scaled idf 8 in [0, 1], mean[2] = 1: its price is 8, value [0, 0, 8]; a path weighs at most 8, excess 0.
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

    scaled_idf float64[V], logs float64. Scratch: counts int32[V] of zeros, left so. The caller allocates all. O(ids).
    Scaled idf 8 of token 2: the paths [2, 0] and [2, 2] weigh 8 and rint(8 * 1.693...) = 14.
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
