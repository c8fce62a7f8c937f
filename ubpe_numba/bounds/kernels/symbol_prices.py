"""Prices of symbols: a lower bound on the tokens of units with any vocabulary of n tokens.

Every symbol v of a unit has a price d[v] of at most 1. A token over the symbols v..w - 1 exceeds by s =
max(0, d[v] + ... + d[w - 1] - 1), a symbol by nothing. So a segmentation has at least as many tokens as its
symbols cost together, minus the excess of its tokens. Let P be the weighted sum of a token's excess over all
its occurrences: a token of the vocabulary exceeds by at most P. Segmentations by any n tokens have, over all
units together, at least

    bound = the weighted sum of all prices  -  the n largest P

tokens. The document abab at the prices 1/2 1 1/2 1: ab exceeds by 1/2 twice, P = 1; ba by 1/2, aba by 1, bab
by 3/2, abab by 2. With one token the bound is 3 - 2 = 1, which abab attains. At 0 1 0 1 neither ab, ba nor
aba exceeds, bab and abab do by 1: the bound is 2 - 1 = 1 again.

The bound is concave in the prices. Its maximum is that of a linear program, in which tokens belong to a
vocabulary in part. Its usual dual has prices of edges, and shortest paths; a price of a symbol is the
difference of the potentials of its nodes. Instead of the bound, accelerated gradients climb a smooth
function. In it max(0, s) becomes s * s / (2 tau) up to tau and s - tau / 2 from there on. The n largest
become a mixture (`share_out`). The gradient at a symbol is 1 minus its coverage. Each edge over it covers it
by x * min(1, s / tau), x being the share of the edge's candidate.

Prices are those of nodes, of which the last one of a unit has none; before[v] is the sum of the prices of its
unit before v. Candidates for tokens are edges of a lattice, sorted by candidate. The document ababc with the
candidates 0 = ab and 1 = ba has the edges (node 0, candidate 0), (1, 1), (2, 0):

    ends    2  3        the occurrences of candidate t are ends[t - 1] : ends[t], for candidate 0 from 0 on
    at      0  2  1     their first nodes, ascending for each candidate

Source: Yu. Nesterov, "Smooth minimization of non-smooth functions", 2005.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import kernel

_STEPS = 60  # of the search for lambda in `share_out`; Newton's method takes four to eight


@kernel
def sort_by_candidate(starts, tokens, cursors, at):
    """Sort the edges of nodes by candidate.

    `starts` int64[N + 1] and `tokens` int32[E] as in fitting/substrings.py. `cursors` int64[T] is the
    beginning of the occurrences of each candidate, and on return their end. `at` int32[E] gets the nodes. The
    caller allocates all. O(N + E).

    starts [0, 1, 2, 3, 3, 3, 3], tokens [0, 1, 0], cursors [0, 2]: at [0, 2, 1], cursors [2, 3].
    """
    for v in range(starts.size - 1):
        for e in range(starts[v], starts[v + 1]):
            t = tokens[e]
            at[cursors[t]] = v
            cursors[t] += 1


@kernel
def steps_to_end(nodes, starts, lengths, steps):
    """The fewest edges from every node to the end of its unit, if all candidates are tokens.

    nodes int64[d + 1]; starts int64[N + 1], lengths int32[E] (fitting/substrings.py); steps int32[N] gets
    them. The caller allocates all. O(N + E). At the prices steps[v] - steps[v + 1] no candidate exceeds a
    token.

    A unit of 3 symbols with an edge of 2 at node 1: steps [2, 1, 1, 0].
    """
    for u in range(nodes.size - 1):
        last = nodes[u + 1] - 1
        steps[last] = 0
        for v in range(last - 1, nodes[u] - 1, -1):
            best = steps[v + 1]
            for e in range(starts[v], starts[v + 1]):
                best = min(best, steps[v + np.int64(lengths[e])])
            steps[v] = best + 1


@kernel
def sum_up(nodes, weights, prices, before, zero):
    """Sums of prices before every node, and of all, in float64 or in int64: the type of `zero`, which is 0.

    nodes int64[d + 1], weights [d] of units; prices [N]; before [N] gets the sums. The caller allocates all.
    Returns the weighted sum of all prices. O(N).

    One unit of 3 symbols, weight 2, prices [0.5, 1, 0.5, 0]: before [0, 0.5, 1.5, 2], the result is 4.
    """
    total = zero
    for u in range(nodes.size - 1):
        s = zero
        for v in range(nodes[u], nodes[u + 1] - 1):
            before[v] = s
            s += prices[v]
        before[nodes[u + 1] - 1] = s
        total += weights[u] * s
    return total


@kernel
def sum_excess(ends, length, at, weights, before, tau, begin, end, sums, smooth):
    """The weighted excess of the candidates, and its smooth lower approximation.

    `ends` int64[T], at int32[E], length int32[T] of candidates, of which begin..end - 1 are looked at.
    `weights` float64[N] of nodes, or one for all. `before` float64[N]. `sums`, smooth float64[T] get the
    sums. The caller allocates all. O(edges).

    The unit above with the candidate of the first two symbols, tau = 1: s = 0.5, so sums [1] and smooth
    [0.25].
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
def certified_sums(ends, length, at, weights, before, one, begin, end, sums):
    """`sum_excess` in integers, which no rounding makes wrong: prices are multiples of 1 / one of a token.

    Arguments as of `sum_excess`, but weights int64[N], before int64[N], one int64 and sums int64[T]. Only
    additions and products that the caller has seen to be far below 2**63. O(edges).

    The unit above, one = 4, prices [2, 4, 2, 0], with the candidates of two symbols at node 0 and of two at
    node 1. Both exceed by 6 - 4: sums [4, 4].
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
def share_out(sums, smooth, counts, scale, n, threshold, shares, found):
    """The n largest of many sums as shares of 0 to 1 that sum to n, a little smoothed.

    x = (smooth - lambda) / (scale * count), limited to 0..1, maximizes the sum of x * smooth - scale * count
    * x * x / 2. `sums` and `smooth` are float64[T]. `counts` float64[T] is above 0, `scale` too. `n` is
    float64. `threshold`, at least 0, is the start of the search for lambda. `shares` float64[T] gets them.
    `found` float64[2] gets the smooth value of the mixture, and an upper bound of the sum of the n largest
    `sums`: n lambda + sum of max(0, sums - lambda). The caller allocates all. Returns lambda. O(T) per step.

    Sums 4, 3 and 1 with counts of 1, scale 1 and n = 1: lambda = 3, x = 1 0 0. With scale 2, lambda =
    2.5 and x = 0.75 0.25 0.
    """
    low = 0.0
    high = 0.0
    for t in range(smooth.size):
        high = max(high, smooth[t])
    lam = min(threshold, high)
    for _ in range(_STEPS):
        total = 0.0
        slope = 0.0
        for t in range(smooth.size):
            if smooth[t] > lam:
                c = 1.0 / (scale * counts[t])
                x = (smooth[t] - lam) * c
                if x < 1.0:
                    slope += c
                    total += x
                else:
                    total += 1.0
        if abs(total - n) <= 1e-9 * n or (lam == 0.0 and total <= n):
            break
        if total > n:
            low = lam
        else:
            high = lam
        new = lam + (total - n) / slope if slope > 0.0 else high
        if low == 0.0 and new <= 0.0:
            new = 0.0
        elif not low < new < high:
            new = 0.5 * (low + high)
        lam = new
    value = 0.0
    above = n * lam
    for t in range(smooth.size):
        x = 0.0
        if smooth[t] > lam:
            c = scale * counts[t]
            x = min(1.0, (smooth[t] - lam) / c)
            value += x * (smooth[t] - 0.5 * c * x)
        if sums[t] > lam:
            above += sums[t] - lam
        shares[t] = x
    found[0] = value
    found[1] = above
    return lam


@kernel
def cover(ends, length, at, before, tau, shares, begin, end, covered):
    """Add the coverage of every symbol by edges, as differences.

    These are covered[v] minus covered[v - 1], at the ends of edges.

    Arguments as of `sum_excess`; shares float64[T]; covered float64[N], to which is added. O(edges of
    candidates with a share).

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
    """One step of accelerated ascent: gradient at `ahead`, new prices, and momentum.

    `nodes` int64[d + 1], weights float64[d] of units. `covered` float64[parts, N] of `cover`, summed in this
    order and set to 0. `eta`, beta: the step and the momentum. `prices`, ahead float64[N] are replaced.
    `found` float64[3] gets, by weight, the gradient times the move of prices, the gradient times the move of
    `ahead`, and the square of that. The caller allocates all. O(N * parts).

    One unit of 3 symbols, weight 1, all prices 0.5, covered [[0.5, 0.5, -1, 0]], eta 0.1, beta 0: gradients
    0.5, 0, 1, so prices 0.55, 0.5, 0.6. `found` [0.125, 0.125, 0.0125].
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
