"""Tokens that match samples within a tolerance, found by a few of their symbols, for all samples that may be decoded before.

Samples and the symbols of tokens are integers, FINE to a level. A token is either levels, or relative:
differences to the sample that was decoded before it, its base. Its last symbol is a whole level, so that
bases are, and a sample x that is decoded as y is within the tolerance if

    -half <= x - y < half          half = FINE * tolerance + FINE / 2

which are 2 * half values: each is within the tolerance of one of the levels 0, 2 * tolerance + 1, ...

A relative token matches x[i:] from all bases of an interval, which each of its symbols narrows; of levels the
base is 0. Symbols are means, of which hardly two are equal, so a trie would share little. Tokens of one kind
and of m to 2 m - 1 symbols, m a power of two, are a group (few tokens are one with shorter ones), in
ascending order of their symbols at one place, where these differ most; a table has where those begin whose
symbol is in each of 256 intervals. Of the tokens whose symbol there may match, eight symbols at places that
all have, divided by a power of two so that they are int16, are compared with the samples, SIDE tokens at a
time; the rest of a token only where these and the last match, and where it may be of use. So may no token of
a group where it would lead to rows to which cheaper ways are known: most groups of short tokens are left out
by one bit for each length.

Last symbols are often some levels apart (a search keeps those of the exact tokens that it begins with, 2 *
tolerance + 1 apart): then so are bases, and few or only one is within the tolerance of a sample.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper

#: Values of a level.
FINE = 64
ROUND = 32  # symbols that are compared at a time
#: Intervals of the symbols by which a group is in order; tokens that are compared at a time.
INTERVALS, SIDE = 256, 16
#: Bits of symbols where some are compared; the value of no symbol, far from all.
BITS, NONE = 13, 28000
#: The largest tolerance, in levels, and its `half`.
MOST_TOLERANCE = 127
MOST_HALF = FINE * MOST_TOLERANCE + FINE // 2

#: Tokens begin..end of the order, of one kind (0 levels, 1 relative), of least..most symbols; of the symbols
#: by which they are in order the first, and the logarithm of the width of an interval; a bit for each number
#: of symbols, bit 0 for all from 64 on; the places of eight symbols, the first of which is that one.
_FIELDS = (
    "kind",
    "begin",
    "end",
    "least",
    "most",
    "origin",
    "shift",
    "lengths",
    *(f"place{k}" for k in range(8)),
)
GROUP = np.dtype([(name, np.int64) for name in _FIELDS])
#: A token of the order: where its symbols begin, what it costs, its number.
ENTRY = np.dtype([("start", np.int64), ("cost", np.int64), ("token", np.int64)])


@helper
def level(x):
    """The level of a value: the nearest one, of two the upper. 31 -> 0, 32 -> 1, -33 -> -1. O(1)."""
    return (np.int64(x) + FINE // 2) >> 6


@helper
def narrowed(x, i, arena, a, n, half, low, high):
    """The bases in low..high from which x[i:] is within the tolerance of the n symbols from a on, and the errors from the first.

    Returns low, high, the sum of the errors and that of their squares; high is below low if there is no such
    base. Errors are x less what is decoded, at most half. O(n), or where it becomes clear. The sample 130 and
    the symbol 0, with half 96, narrow 0..64 to 64..64: 130 - 64 < 96; the error is 66.
    """
    k = np.int64(0)
    while k < n and low <= high:
        many = min(n - k, ROUND)
        most = np.int32(-(1 << 30))
        fewest = np.int32(1 << 30)
        for j in range(many):  # of the int32 of a processor's vectors
            w = np.int32(x[i + k + j] - arena[a + k + j])
            most = w if w > most else most
            fewest = w if w < fewest else fewest
        low = max(low, np.int64(most) - half + 1)
        high = min(high, np.int64(fewest) + half)
        k += many
    low = (low + (FINE - 1)) & -FINE
    high &= -FINE
    s1, s2 = np.int64(0), np.int64(0)
    k = n if low > high else np.int64(0)
    most_squares = ((1 << 31) - 1) // (half * half)  # whose sum is an int32
    while k < n:
        many = min(n - k, most_squares)
        sum1, sum2 = np.int32(0), np.int32(0)
        for j in range(many):
            w = np.int32(x[i + k + j] - arena[a + k + j] - low)
            sum1 = np.int32(sum1 + w)
            sum2 = np.int32(sum2 + np.int32(w * w))
        s1 += np.int64(sum1)
        s2 += np.int64(sum2)
        k += many
    return low, high, s1, s2


@helper
def squares_of(x, i, arena, a, n, half, base):
    """The sum of the squares of errors from one base, or -1 if an error is beyond the tolerance, in one pass.

    O(n).

    Rounds of 32 samples read up to 31 samples and symbols more than n, which do not count. With half 96 the
    sample 130, the symbol 0 and the base 64 give 66 * 66, and with the base 0 -1.
    """
    total = np.int64(0)
    k = np.int64(0)
    most = min(4 * ROUND, ((1 << 31) - 1) // (half * half) // ROUND * ROUND)  # squares whose sum is an int32
    while k < n:
        many = np.int32(min(n - k, most))
        farthest = np.uint32(0)
        part = np.int32(0)
        for j in range((many + ROUND - 1) // ROUND * ROUND):
            w = np.int32(x[i + k + j] - arena[a + k + j] - np.int32(base))
            w = w if np.int32(j) < many else np.int32(0)
            far = np.uint32(w + np.int32(half))
            farthest = far if far > farthest else farthest
            part = np.int32(part + np.int32(w * w))
        if farthest >= 2 * half:
            return np.int64(-1)
        total += np.int64(part)
        k += many
    return total


@helper
def bases_of(x, i, start, grid, step, tolerance):
    """The first and the last level that the sample before x[i] may be decoded to: of grid, grid + step, ...

    O(1).

    There is none, and the last is below the first, at the start of a document. With the tolerance 1 of 3, 6,
    ... the sample 128 may be decoded to 3, and of 3, 4, ... to 3 alone, too.
    """
    if i == start:
        return np.int64(0), np.int64(-1)
    middle = level(x[i - 1])
    first = middle - tolerance
    first += (grid - first) % step
    return first, first + (middle + tolerance - first) // step * step


@helper
def useful(room, row, most, sign, limit):
    """The bits n of 1..most, and below 64, where `sign` times the room of row + n is below the limit; and bit 0. O(64).

    Room [0, 9, 3], most 2, the sign 1 and the limit 5 give 5.
    """
    bits = np.int64(1)
    for n in range(min(most, 63) + 1):
        bits |= np.int64(sign * room[row + n] < limit) << np.int64(n)
    return bits


@helper
def listed(x, i, end, row, kind, low, high, tolerance, tables, lists, lengths, room, sign, limit):
    """List the tokens of a kind that may match x[i:] from bases low..high, in levels, and may be of use; returns how many.

    Nine of their symbols match. x int32; end: of the document. tables, for all kernels: arena int32 and
    starts int64[V + 1], the symbols of tokens, and 32 more; ENTRY[order]; ends int32[order, 2], the number of
    symbols and the last one; groups GROUP; grid and step: bases are grid, grid + step, ... levels; firsts
    int32[groups, INTERVALS + 1], where the tokens of each interval begin; shift and signs int16[8, order],
    eight symbols of each token of the order, >> shift, and NONE beside groups; the least cost of a token.
    lists, of the caller: flags int8[SIDE], and picked int32[order + SIDE], places in the order, which is the
    list. Tokens are of use of `lengths`, bits of `useful`, and where `sign` times the room, int64 of each
    row, of the row to which they lead is below the limit. O(groups + tokens whose symbol at one place may
    match / SIDE).

    With tolerance 1 and 64 decoded before [70, 60], [0, 0] is listed for the first of these samples, and
    [300, 0] is not.
    """
    _, _, _, ends, groups, _, _, firsts, shift, signs, _ = tables
    flags, picked = lists
    words = flags.view(np.int64)
    half = np.int64(FINE * tolerance + FINE // 2)
    width = np.int16((2 * half >> shift) + 3)
    low_value = low * FINE - half
    high_value = high * FINE + half
    near = np.int16(low_value >> shift)
    far = np.int16((high_value >> shift) + 2)
    n = np.int64(0)
    for g in range(groups.size):
        group = groups[g]
        if group.kind != kind or group.lengths & lengths == 0 or i + group.least > end or low > high:
            continue
        x0 = np.int64(x[i + group.place0])
        a = (x0 - high_value + 1 - group.origin) >> group.shift
        z = ((x0 - low_value - group.origin) >> group.shift) + 1
        begin = np.int64(firsts[g, min(max(a, 0), INTERVALS)])
        stop = np.int64(firsts[g, min(max(z, 0), INTERVALS)])
        y0 = np.int16(x0 >> shift)
        y1 = np.int16(x[i + group.place1] >> shift)
        y2 = np.int16(x[i + group.place2] >> shift)
        y3 = np.int16(x[i + group.place3] >> shift)
        y4 = np.int16(x[i + group.place4] >> shift)
        y5 = np.int16(x[i + group.place5] >> shift)
        y6 = np.int16(x[i + group.place6] >> shift)
        y7 = np.int16(x[i + group.place7] >> shift)
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
            if words[0] | words[1]:
                for o in range(SIDE):  # without a branch that cannot be foreseen
                    picked[n] = begin + o
                    n += flags[o]
            begin += SIDE
    few = np.int64(0)
    for o in range(n):  # without a branch that cannot be foreseen
        p = picked[o]
        many = min(np.int64(ends[p, 0]), end - i)
        w = np.int64(x[i + many - 1]) - ends[p, 1]
        picked[few] = p
        few += (many == ends[p, 0]) & (w >= low_value) & (w < high_value) & (sign * room[row + many] < limit)
    return few


@helper
def matched(x, i, o, tables, tolerance, low, high, at, here, row, p, there, q, limit):
    """The bases low..high, in levels, from which token o of the order matches x[i:] and may be of use, and errors.

    It leads from column base + `at` of row `row` of `here`, int64[rows, 2 tolerance + 1], to a column of row
    + its length of `there`, and is of use where p times the one, q times the other, and the token cost less
    than the limit. Returns the first and the last base, in levels, the column to which it leads from base 0,
    and the sums of `narrowed` from the first one, of a lone base only the second; the last base is below the
    first if there is none. O(columns), and O(symbols) where it may be of use.

    From bases 0..1 with tolerance 1 the token [0] matches the sample 130 from 1 alone, with the error 66.
    """
    half = np.int64(FINE * tolerance + FINE // 2)
    arena, _, entries, ends, _, _, _, _, _, _, _ = tables
    entry = entries[o]
    n = np.int64(ends[o, 0])
    shift = level(ends[o, 1]) - level(x[i + n - 1]) + tolerance
    first = max(low, -shift)
    last = min(high, 2 * tolerance - shift)
    limit -= entry.cost
    while first <= last and p * here[row, first + at] + q * there[row + n, first + shift] >= limit:
        first += 1
    while first <= last and p * here[row, last + at] + q * there[row + n, last + shift] >= limit:
        last -= 1
    s1, s2 = np.int64(0), np.int64(0)
    if first == last and i + n + ROUND <= x.size:
        s2 = squares_of(x, i, arena, entry.start, n, half, first * FINE)
        last = first if s2 >= 0 else first - 1
    elif first <= last:
        low, high, s1, s2 = narrowed(x, i, arena, entry.start, n, half, first * FINE, last * FINE)
        first = low >> 6
        last = high >> 6
    return first, last, shift, s1, s2
