"""The bound of kernels/symbol_prices.py in integers, which is true whatever floating point did to find the prices.

Prices are multiples of 1 / one of a token: `one` is a token. Only additions and products of int64 that the caller has seen to be
far below 2**63; the n largest sums are chosen by the caller.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.fitting.kernels.symbol_prices import sums_before
from ubpe_numba.runtime.compiler import kernel


@kernel
def certified_total(nodes, weights, prices, before):
    """Sums of prices before every node, and the weighted sum of all.

    nodes int64[d + 1], weights int64[d] of units; prices int64[N]; before int64[N] gets the sums. The caller allocates all. O(N).

    One unit of 3 symbols, weight 2, prices [2, 4, 2, 0], where 4 are a token: before [0, 2, 6, 8], the result is 16.
    """
    return sums_before(nodes, weights, prices, before, np.int64(0))


@kernel
def certified_sums(ends, length, at, weights, before, one, begin, end, sums):
    """What the candidates begin..end - 1 exceed a token by, by weight.

    ends int64[T], at int32[E] (kernels/occurrences.py), length int32[T]; weights int64[N] of nodes; before int64[N]; one int64;
    sums int64[T] gets the sums. The caller allocates all. O(edges).

    The unit above, one = 4, with the candidates of two symbols at node 0 and of two at node 1: both exceed by 6 - 4: sums [4, 4].
    """
    k = ends[begin - 1] if begin > 0 else np.int64(0)
    for t in range(begin, end):
        n = np.int64(length[t])
        total = np.int64(0)
        while k < ends[t]:
            v = np.int64(at[k])
            s = before[v + n] - before[v] - one
            if s > 0:
                total += weights[v] * s
            k += 1
        sums[t] = total


@kernel
def steps_to_end(nodes, starts, lengths, behind):
    """The fewest edges from every node to the end of its unit, if all candidates are tokens.

    nodes int64[d + 1]; starts int64[N + 1], lengths int32[E] (fitting/substrings.py); behind int32[N] gets them. The caller
    allocates all. O(N + E). At the prices behind[v] - behind[v + 1] no candidate exceeds a token.

    A unit of 3 symbols with an edge of 2 at node 1: behind [2, 1, 1, 0].
    """
    for u in range(nodes.size - 1):
        last = nodes[u + 1] - 1
        behind[last] = 0
        for v in range(last - 1, nodes[u] - 1, -1):
            best = behind[v + 1]
            for e in range(starts[v], starts[v + 1]):
                best = min(best, behind[v + np.int64(lengths[e])])
            behind[v] = best + 1
