"""Tokens that match samples within a tolerance, found by a few of their symbols, for all samples that may be decoded before.

Samples and the symbols of tokens are integers, FINE to a level. A token is either levels, or relative: differences to the sample
that was decoded before it, its base. Its last symbol is a whole level, so that bases are, and a sample x that is decoded as y is
within the tolerance if

    -half <= x - y < half          half = FINE * tolerance + FINE / 2

which are 2 * half values: each is within the tolerance of one of the levels 0, 2 * tolerance + 1, ...

A relative token matches x[i:] from all bases of an interval, which each of its symbols narrows; of levels the base is 0. Symbols
are means, of which hardly two are equal, so a trie would share little. Tokens of one kind and of m to 2 m - 1 symbols, m a power
of two, are a group (few tokens are one with shorter ones), in ascending order of their symbols at one place, where these differ
most; a table has where those begin whose symbol is in each of 256 intervals. Of the tokens whose symbol there may match, eight
symbols at places that all have, divided by a power of two so that they are int16, are compared with the samples, SIDE tokens at a
time, for BLOCK samples at once; the rest of a token only where these match, and where it may be of use.

Last symbols are often some levels apart (a search keeps those of the exact tokens that it begins with, 2 * tolerance + 1 apart):
then so are bases, and few or only one is within the tolerance of a sample.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper, section

#: Values of a level.
FINE = 64
_ROUND = 32  # symbols that are compared at a time
#: Intervals of the symbols by which a group is in order; tokens that are compared at a time; samples at a time.
INTERVALS, SIDE, BLOCK = 256, 16, 64
#: Bits of symbols where some are compared; the value of no symbol, far from all.
BITS, NONE = 13, 28000
#: The largest tolerance, in levels, and its `half`.
MOST_TOLERANCE = 127
MOST_HALF = FINE * MOST_TOLERANCE + FINE // 2

#: Tokens begin..end of the order, of one kind (0 levels, 1 relative), of least..most symbols; of the symbols by which they are in
#: order the first, and the logarithm of the width of an interval; the places of eight symbols, the first of which is that one.
GROUP = np.dtype(
    [(name, np.int64) for name in ("kind", "begin", "end", "least", "most", "origin", "shift", *(f"place{k}" for k in range(8)))]
)
#: A token of the order: where its symbols begin, how many there are, the level of the last one; its number, what it costs.
ENTRY = np.dtype([("start", np.int64), ("cost", np.int64), ("token", np.int32), ("length", np.int32), ("last", np.int64)])


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
def errors_of(x, i, arena, a, n, half, base):
    """Sums of the errors of n symbols from a on, and of their squares, at the samples from i on, where `base` was decoded before.

    Errors are x less what is decoded, at most half: of the samples [70, 60] as [64, 64] with base 0 6 and -4, so 2 and 52. O(n).
    """
    s1, s2 = np.int64(0), np.int64(0)
    k = np.int64(0)
    most = ((1 << 31) - 1) // (half * half)  # squares whose sum is an int32
    while k < n:
        many = min(n - k, most)
        sum1, sum2 = np.int32(0), np.int32(0)
        for j in range(many):
            w = np.int32(x[i + k + j] - arena[a + k + j] - base)
            sum1 = np.int32(sum1 + w)
            sum2 = np.int32(sum2 + np.int32(w * w))
        s1 += np.int64(sum1)
        s2 += np.int64(sum2)
        k += many
    return s1, s2


@section
def look(x, i, way, m, start, end, tolerance, tables, lists, row, room, limits):
    """List for m samples i, i + way, ... the tokens that may match from there, by eight of their symbols.

    x int32; start, end: of the document, which no relative token begins. tables, for all kernels: arena int32 and starts int64[V
    + 1], the symbols of tokens; ENTRY[order]; groups GROUP; grid and step: bases are grid, grid + step, ... levels; firsts
    int32[groups, INTERVALS + 1], where the tokens of each interval begin; shift and signs int16[8, order], eight symbols of each
    token of the order, >> shift, and NONE beside groups. lists, of the caller: flags int8[SIDE]; bases int64[2, BLOCK], the first
    and the last from which a relative token may match; picked int32[BLOCK * order + SIDE], until int64[groups, BLOCK + 1]: the
    tokens of group g for the k-th sample are picked[until[g, k] : until[g, k + 1]], places in the order. If there are limits,
    int64 of each row, of which sample i has `row`, a group is left out where it leads to rows that have no less room. O(m *
    groups + tokens whose symbol at one place may match / SIDE).

    With tolerance 1 and 64 decoded before [70, 60], [0, 0] is listed for the first of these samples, and [300, 0] is not.
    """
    _, _, _, groups, grid, step, firsts, shift, signs = tables
    flags, bases, picked, until = lists
    words = flags.view(np.int64)
    half = np.int64(FINE * tolerance + FINE // 2)
    width = np.int16((2 * half >> shift) + 3)
    for k in range(m):
        p = i + way * k
        bases[0, k] = 0
        bases[1, k] = -1
        if p > start:
            first = level(x[p - 1]) - tolerance
            first += (grid - first) % step
            bases[0, k] = first * FINE
            bases[1, k] = (first + (level(x[p - 1]) + tolerance - first) // step * step) * FINE
    n = np.int64(0)
    for g in range(groups.size):
        group = groups[g]
        until[g, 0] = n
        for k in range(m):
            p = i + way * k
            some = p + group.least <= end and (group.kind == 0 or bases[0, k] <= bases[1, k])
            if some and limits.size > 0:
                r = row + way * k
                least = limits[r]
                for to in range(r + group.least, min(r + group.most, r + end - p) + 1):
                    least = room[to] if room[to] < least else least
                some = least < limits[r]
            if some:
                low = bases[0, k] if group.kind == 1 else np.int64(0)
                high = bases[1, k] if group.kind == 1 else np.int64(0)
                near = np.int16((low - half) >> shift)
                far = np.int16(((high + half) >> shift) + 2)
                x0 = np.int64(x[p + group.place0])
                a = (x0 - high - half + 1 - group.origin) >> group.shift
                z = ((x0 - low + half - group.origin) >> group.shift) + 1
                begin = np.int64(firsts[g, min(max(a, 0), INTERVALS)])
                stop = np.int64(firsts[g, min(max(z, 0), INTERVALS)])
                y0 = np.int16(x0 >> shift)
                y1 = np.int16(x[p + group.place1] >> shift)
                y2 = np.int16(x[p + group.place2] >> shift)
                y3 = np.int16(x[p + group.place3] >> shift)
                y4 = np.int16(x[p + group.place4] >> shift)
                y5 = np.int16(x[p + group.place5] >> shift)
                y6 = np.int16(x[p + group.place6] >> shift)
                y7 = np.int16(x[p + group.place7] >> shift)
                while begin < stop:
                    for o in range(SIDE):
                        u0 = np.int16(y0 - signs[0, begin + o])
                        u1 = np.int16(y1 - signs[1, begin + o])
                        u2 = np.int16(y2 - signs[2, begin + o])
                        u3 = np.int16(y3 - signs[3, begin + o])
                        u4 = np.int16(y4 - signs[4, begin + o])
                        u5 = np.int16(y5 - signs[5, begin + o])
                        u6 = np.int16(y6 - signs[6, begin + o])
                        u7 = np.int16(y7 - signs[7, begin + o])
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
                        flags[o] = (most < far) & (fewest >= near) & (np.int16(most - fewest) < width)
                    for word in range(SIDE // 8):
                        if words[word] != 0:
                            for o in range(8 * word, 8 * word + 8):  # without a branch that cannot be foreseen
                                picked[n] = begin + o
                                n += flags[o]
                    begin += SIDE
            until[g, k + 1] = n


@helper
def kept(x, i, end, row, a, z, low, high, tolerance, entries, picked, room, sign, limit):
    """Keep of picked[a:z] what matches at its last symbol, from a base in low..high, in levels, and may be of use.

    That is if it ends by `end`, and `sign` times the room of the row to which it leads and its cost are below the limit. Those
    kept begin at a; returns where they end. O(z - a), without a branch that cannot be foreseen.
    """
    half = np.int64(FINE * tolerance + FINE // 2)
    near = low * FINE - half
    far = high * FINE + half
    few = a
    for o in range(a, z):
        p = picked[o]
        n = min(np.int64(entries[p].length), end - i)
        w = np.int64(x[i + n - 1]) - (entries[p].last << 6)
        picked[few] = p
        is_near = (n == entries[p].length) & (w >= near) & (w < far)
        few += is_near & (sign * room[row + n] + entries[p].cost < limit)
    return few


@helper
def matched(x, i, entry, arena, tolerance, low, high, at, here, row, p, there, q, limit):
    """The bases low..high, in levels, from which a token matches x[i:] and may be of use, and its errors.

    It leads from column base + `at` of row `row` of `here`, int64[rows, 2 tolerance + 1], to a column of row + its length of
    `there`, and is of use where p times the one, q times the other, and the token cost less than the limit. Returns the first and
    the last base, in levels, the column to which it leads from base 0, and the sums of `errors_of` from the first one; the last
    base is below the first if there is none. O(columns), and O(symbols) where it may be of use.

    From bases 0..1 with tolerance 1 the token [0] matches the sample 130 from 1 alone, with the error 66.
    """
    half = np.int64(FINE * tolerance + FINE // 2)
    n = np.int64(entry.length)
    shift = entry.last - level(x[i + n - 1]) + tolerance
    first = max(low, -shift)
    last = min(high, 2 * tolerance - shift)
    limit -= entry.cost
    while first <= last and p * here[row, first + at] + q * there[row + n, first + shift] >= limit:
        first += 1
    while first <= last and p * here[row, last + at] + q * there[row + n, last + shift] >= limit:
        last -= 1
    s1, s2 = np.int64(0), np.int64(0)
    if first <= last:
        low, high = narrowed(x, i, arena, entry.start, n, half, first * FINE, last * FINE)
        first = low >> 6
        last = high >> 6
        if first <= last:
            s1, s2 = errors_of(x, i, arena, entry.start, n, half, low)
    return first, last, shift, s1, s2
