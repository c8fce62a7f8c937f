"""Tokens that match samples within a tolerance, found by a few of their symbols, for all samples that may be decoded before.

Samples and the symbols of tokens are integers, FINE to a level. A token is either levels, or relative: differences to the sample
that was decoded before it, its base. Its last symbol is a whole level, so that bases are, and a sample x that is decoded as y is
within the tolerance if

    -half <= x - y < half          half = FINE * tolerance + FINE / 2

which are 2 * half values: each is within the tolerance of one of the levels 0, 2 * tolerance + 1, ...

A relative token matches x[i:] from all bases of an interval, which each of its symbols narrows; of levels the base is 0. Symbols
are means, of which hardly two are equal, so a trie would share little. Tokens of one kind and of m to 2 m - 1 symbols, m a power
of two, are a group, in ascending order of their first symbols; so those whose first may match are a range. Of these, eight
symbols at places that all have are compared with the samples there, many tokens in one instruction; the rest of a token only
where these match.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper

#: Values of a level.
FINE = 64
_ROUND = 32  # symbols that are compared at a time

#: Tokens begin..end of the order of kind `root`; the fewest symbols of one, and the places of seven symbols after the first.
GROUP = np.dtype(
    [
        ("root", np.int64),
        ("begin", np.int64),
        ("end", np.int64),
        ("least", np.int64),
        *((f"place{k}", np.int64) for k in range(1, 8)),
    ]
)
#: A token that matches, and from which bases.
MATCH = np.dtype([("token", np.int64), ("low", np.int64), ("high", np.int64)])


@helper
def level(x):
    """The level of a value: the nearest one, of two the upper. 31 -> 0, 32 -> 1, -33 -> -1. O(1)."""
    return (np.int64(x) + FINE // 2) >> 6


@helper
def narrowed(x, i, arena, a, n, half, low, high):
    """The bases in low..high from which x[i:] is within the tolerance of the n symbols from a on: as low, high.

    High is below low if there is none. O(n), or where it becomes clear. The sample 130 and the symbol 0, with half 96, narrow
    0..64 to 64..64: 130 - 64 < 96.
    """
    k = np.int64(0)
    while k < n and low <= high:
        many = min(n - k, _ROUND)
        most = np.int32(-(1 << 30))
        fewest = np.int32(1 << 30)
        for j in range(many):  # of the int32 of a processor's vectors
            w = np.int32(x[i + k + j] - arena[a + k + j])
            most = w if w > most else most
            fewest = w if w < fewest else fewest
        low = max(low, np.int64(most) - half + 1)
        high = min(high, np.int64(fewest) + half)
        k += many
    return (low + (FINE - 1)) & -FINE, high & -FINE


@helper
def matches(root, low, high, x, i, end, half, tables, offer, cost, room, row, scratch):
    """Enter the tokens of a kind that match x[i:end] from a base in low..high into `found`; returns how many there are.

    x int32; tables: arena int32, starts int64[V + 1], the symbols of the tokens; groups GROUP, order int64[V], the tokens by
    groups, and signs int32[8, V], eight symbols of each in this order; scratch, of the caller: int8[V], int64[V] and `found`
    MATCH[V]; low, high multiples of FINE, and 0 of levels. A token of n symbols that cannot be of use is left out: where offer +
    cost[token] is not below room[row + n]. O(tokens whose first symbol may match / 16 + symbols of those that may).

    From bases 0..64 and half 96 the token [0] matches the sample 130 from 64 alone.
    """
    arena, starts, groups, order, signs = tables
    flags, picked, found = scratch
    n = np.int64(0)
    near = np.int32(low - half)
    far = np.int32(high + half)
    width = np.int32(2 * half)
    for g in range(groups.size):
        if groups[g].root != root or i + groups[g].least > end or low > high:
            continue
        x0 = np.int32(x[i])
        x1 = np.int32(x[i + groups[g].place1])
        x2 = np.int32(x[i + groups[g].place2])
        x3 = np.int32(x[i + groups[g].place3])
        x4 = np.int32(x[i + groups[g].place4])
        x5 = np.int32(x[i + groups[g].place5])
        x6 = np.int32(x[i + groups[g].place6])
        x7 = np.int32(x[i + groups[g].place7])
        begin = groups[g].begin
        stop = groups[g].end
        z = stop
        while begin < z:  # the first whose symbol is not too low
            middle = (begin + z) >> 1
            if np.int64(signs[0, middle]) <= np.int64(x0) - high - half:
                begin = middle + 1
            else:
                z = middle
        a = begin
        while a < stop:  # the first whose symbol is too high
            middle = (a + stop) >> 1
            if np.int64(signs[0, middle]) <= np.int64(x0) - low + half:
                a = middle + 1
            else:
                stop = middle
        for o in range(begin, stop):
            u0 = np.int32(x0 - signs[0, o])
            u1 = np.int32(x1 - signs[1, o])
            u2 = np.int32(x2 - signs[2, o])
            u3 = np.int32(x3 - signs[3, o])
            u4 = np.int32(x4 - signs[4, o])
            u5 = np.int32(x5 - signs[5, o])
            u6 = np.int32(x6 - signs[6, o])
            u7 = np.int32(x7 - signs[7, o])
            v0 = u0 if u0 > u1 else u1
            v1 = u2 if u2 > u3 else u3
            v2 = u4 if u4 > u5 else u5
            v3 = u6 if u6 > u7 else u7
            v0 = v0 if v0 > v1 else v1
            v2 = v2 if v2 > v3 else v3
            most = v0 if v0 > v2 else v2
            w0 = u0 if u0 < u1 else u1
            w1 = u2 if u2 < u3 else u3
            w2 = u4 if u4 < u5 else u5
            w3 = u6 if u6 < u7 else u7
            w0 = w0 if w0 < w1 else w1
            w2 = w2 if w2 < w3 else w3
            fewest = w0 if w0 < w2 else w2
            flags[o] = (most < far) & (fewest >= near) & (np.int32(most - fewest) < width)
        few = np.int64(0)
        for o in range(begin, stop):  # without a branch that cannot be foreseen
            picked[few] = o
            few += flags[o]
        for p in range(few):
            t = order[picked[p]]
            size = starts[t + 1] - starts[t]
            if i + size > end or offer + cost[t] >= room[row + size]:
                continue
            first, last = narrowed(x, i, arena, starts[t], size, half, low, high)
            if first <= last:
                found[n].token = t
                found[n].low = first
                found[n].high = last
                n += 1
    return n
