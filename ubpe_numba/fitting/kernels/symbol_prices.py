"""Prices of the symbols of units, which tell how many tokens the units need by any vocabulary of n tokens.

Every symbol v of a unit has a price d[v] of at most 1. A token over the symbols v..w - 1 exceeds by
s = max(0, d[v] + ... + d[w - 1] - 1), a symbol by nothing. So a segmentation has at least as many tokens as its symbols cost
together, less what its tokens exceed by; and a token of the vocabulary does not exceed by more than P, the weighted sum over all
its occurrences. Segmentations by any n tokens have, of all units together, at least

    bound = the weighted sum of all prices  -  the n largest P

tokens. The document abab at the prices 1/2 1 1/2 1: ab exceeds by 1/2 twice, P = 1; ba by 1/2, aba by 1, bab by 3/2, abab by 2.
With one token the bound is 3 - 2 = 1, which abab attains. At 0 1 0 1 neither ab, ba nor aba exceeds, bab and abab do by 1: the
bound is 2 - 1 = 1 again.

The bound is concave in the prices; its maximum is that of a linear programme, in which tokens belong to a vocabulary in part.
(Its usual dual has prices of edges, and shortest paths; a price of a symbol is the difference of the potentials of its nodes.) It
is climbed by accelerated gradients of a smooth function in its place: max(0, s) becomes s * s / (2 tau) up to tau and s - tau / 2
from there on, and the n largest become a mixture (kernels/shares.py). The gradient at a symbol is 1 less how much it is covered,
by x * min(1, s / tau) of each edge over it, x being the share of the edge's candidate.

Prices are those of nodes, of which the last one of a unit has none; before[v] is the sum of the prices of its unit before v.

Source: Yu. Nesterov, "Smooth minimization of non-smooth functions", 2005.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper, kernel


@helper
def sums_before(nodes, weights, prices, before, nothing):
    """As `sum_up`, in the numbers that `nothing`, their 0, is of: float64 or int64."""
    total = nothing
    for u in range(nodes.size - 1):
        s = nothing
        for v in range(nodes[u], nodes[u + 1] - 1):
            before[v] = s
            s += prices[v]
        before[nodes[u + 1] - 1] = s
        total += weights[u] * s
    return total


@kernel
def sum_up(nodes, weights, prices, before):
    """Sums of prices before every node, and of all.

    nodes int64[d + 1], weights float64[d] of units; prices float64[N]; before float64[N] gets the sums. The caller allocates all.
    Returns the weighted sum of all prices. O(N).

    One unit of 3 symbols, weight 2, prices [0.5, 1, 0.5, 0]: before [0, 0.5, 1.5, 2], the result is 4.
    """
    return sums_before(nodes, weights, prices, before, 0.0)


@kernel
def sum_excess(ends, length, at, weights, before, tau, begin, end, sums, smooth):
    """What the candidates exceed by, and the smooth sums below.

    ends int64[T], at int32[E] (kernels/occurrences.py), length int32[T] of candidates, of which begin..end - 1 are looked at;
    weights float64[N] of nodes, or one for all; before float64[N]; sums, smooth float64[T] get the sums. The caller allocates
    all. O(edges).

    The unit above with the candidate of the first two symbols, tau = 1: s = 0.5, so sums [1] and smooth [0.25].
    """
    half = 0.5 / tau
    alike = weights.size == 1
    w = weights[0]
    k = ends[begin - 1] if begin > 0 else np.int64(0)
    for t in range(begin, end):
        n = np.int64(length[t])
        exact = 0.0
        below = 0.0
        while k < ends[t]:
            v = np.int64(at[k])
            s = before[v + n] - before[v] - 1.0
            if s > 0.0:
                if not alike:
                    w = weights[v]
                exact += w * s
                below += w * (s * s * half if s < tau else s - 0.5 * tau)
            k += 1
        sums[t] = exact
        smooth[t] = below


@kernel
def cover(ends, length, at, before, tau, shares, begin, end, covered):
    """How much edges cover, as differences: covered[v] less covered[v - 1] as far as edges begin or end at v.

    Arguments as of `sum_excess`; shares float64[T]; covered float64[N], to which is added. O(edges of candidates with a share).

    The example of `sum_excess` with the share 1: covered [0.5, 0, -0.5, 0].
    """
    steep = 1.0 / tau
    for t in range(begin, end):
        x = shares[t]
        if x <= 0.0:
            continue
        n = np.int64(length[t])
        first = ends[t - 1] if t > 0 else np.int64(0)
        for k in range(first, ends[t]):
            v = np.int64(at[k])
            s = before[v + n] - before[v] - 1.0
            if s > 0.0:
                f = x * min(1.0, s * steep)
                covered[v] += f
                covered[v + n] -= f


@kernel
def climb(nodes, weights, covered, eta, beta, prices, ahead, found):
    """One step of accelerated ascent: gradient at `ahead`, from there to new prices, and `ahead` of them by momentum.

    nodes int64[d + 1], weights float64[d] of units; covered float64[parts, N] of `cover`, summed in this order and set to 0; eta,
    beta: the step and the momentum; prices, ahead float64[N] are replaced; found float64[3] gets, by weight, the gradient times
    the move of prices, the gradient times the move of `ahead`, and the square of that. The caller allocates all. O(N * parts).

    One unit of 3 symbols, weight 1, all prices 0.5, covered [[0.5, 0.5, -1, 0]], eta 0.1, beta 0: gradients 0.5, 0, 1, so prices
    0.55, 0.5, 0.6; found [0.125, 0.125, 0.0125].
    """
    turn = 0.0
    rise = 0.0
    square = 0.0
    for u in range(nodes.size - 1):
        over = 0.0
        w = weights[u]
        last = nodes[u + 1] - 1
        for v in range(nodes[u], last):
            for i in range(covered.shape[0]):
                over += covered[i, v]
                covered[i, v] = 0.0
            g = 1.0 - over
            new = min(1.0, ahead[v] + eta * g)
            move = new - prices[v]
            prices[v] = new
            new = min(1.0, new + beta * move)
            turn += w * g * move
            move = new - ahead[v]
            rise += w * g * move
            square += w * move * move
            ahead[v] = new
        for i in range(covered.shape[0]):
            covered[i, last] = 0.0
    found[0] = turn
    found[1] = rise
    found[2] = square
