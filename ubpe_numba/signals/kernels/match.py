"""Tokens that match samples within a tolerance, for all values that may be decoded before.

They are found by a few of their symbols.

Samples and the symbols of tokens are integers, FINE to a level. A token is either levels, or relative:
differences to the sample that was decoded before it, its base. Its last symbol is a whole level, so that
bases are, and a sample x that is decoded as y is within the tolerance if

    -half <= x - y < half          half = FINE * tolerance + FINE / 2

which are 2 * half values: each is within the tolerance of a level 0, 2 * tolerance + 1, ...

A relative token matches x[i:] from all bases of an interval, which each of its symbols narrows; for levels
the base is 0. Symbols are means, and few are equal, so a trie would share little.

Tokens of a kind with m to 2 m - 1 symbols, m a power of two, are a group (a small group is joined with
shorter tokens). They are in ascending order of their symbols at the place with the largest differences. A
table has the beginnings of the tokens whose symbol there is in each of 256 intervals. If its symbol there may
match, eight symbols of a token at common places are compared with the samples, SIDE tokens at a time. They
are divided by a power of two to fit int16. The rest of a token is compared only if these and the last symbol
match, and if it may be of use. A group is skipped if all its tokens lead to rows with cheaper known paths:
one bit per length leaves out most groups of short tokens.

Last symbols are often some levels apart: a search keeps those of the exact tokens that it begins with, 2 *
tolerance + 1 apart. Then bases are too, and few of them, or only one, are within the tolerance of a sample.
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

#: Tokens begin..end of the order, of the same kind (0 levels, 1 relative), of least..most symbols. Then the
#: first of the symbols that order them, and the logarithm of the width of an interval. Then a bit for each
#: number of symbols, bit 0 for all from 64 on, and the places of eight symbols, the first of which is the
#: ordering symbol.
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
#: A token of the order: the beginning of its symbols, its cost, its number.
ENTRY = np.dtype([("start", np.int64), ("cost", np.int64), ("token", np.int64)])


@helper
def level(x):
    """The level of a value: the nearest one, of two the upper. 31 -> 0, 32 -> 1, -33 -> -1. O(1)."""
    return (np.int64(x) + FINE // 2) >> 6


@helper
def narrowed(x, i, arena, a, n, half, low, high):
    """The bases in low..high from which x[i:] is within the tolerance of the n symbols from a on.

    Also the errors from the first of them.

    Returns low, high, the sum of the errors and that of their squares; high is below low if no base fits.
    Errors are x less the decoded value, at most half. O(n), or less if no base is left. The sample 130 and
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

    At the start of a document no level exists, and the last is below the first. With the tolerance 1, of the
    levels 3, 6, ... the sample 128 may be decoded to 3; of 3, 4, ... also to 3 alone.
    """
    if i == start:
        return np.int64(0), np.int64(-1)
    middle = level(x[i - 1])
    first = middle - tolerance
    first += (grid - first) % step
    return first, first + (middle + tolerance - first) // step * step


@helper
def useful(room, row, most, sign, limit):
    """The bits n of 1..most, and below 64, for useful lengths; and bit 0. O(64).

    A length is useful if `sign` times the room of row + n is below the limit.

    Room [0, 9, 3], most 2, the sign 1 and the limit 5 give 5.
    """
    bits = np.int64(1)
    for n in range(min(most, 63) + 1):
        bits |= np.int64(sign * room[row + n] < limit) << np.int64(n)
    return bits


@helper
def listed(x, i, end, row, kind, low, high, tolerance, tables, lists, lengths, room, sign, limit):
    """List useful tokens of a kind that may match x[i:] from bases low..high; returns how many.

    Bases are in levels.

    Nine of their symbols match. `x` is int32, `end` that of the document. `tables`, for all kernels, holds
    these. Arena int32 and starts int64[V + 1] are the symbols of tokens, and 32 more. ENTRY[order]. Ends
    int32[order, 2] are the number of symbols and the last one. Groups GROUP. Grid and step: bases are grid,
    grid + step, ... levels. Firsts int32[groups, INTERVALS + 1] are the beginnings of the tokens of each
    interval. Shift and the array int16[8, order] are eight symbols of each token of the order, >> shift, and
    NONE around groups. The last is the least cost of a token.

    `lists`, of the caller, holds flags int8[SIDE], and picked int32[order + SIDE], places in the order, which
    is the list. Tokens are useful under two conditions. Their length is in `lengths`, bits of `useful`. And
    `sign` times the room, int64 of each row, of the row to which they lead is below the limit. O(groups +
    tokens whose symbol at one place may match / SIDE).

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
    """The bases low..high, in levels, from which token o matches x[i:] and may be useful; errors.

    It leads from column base + `at` of row `row` of `here`, int64[rows, 2 tolerance + 1], to a column of row
    + its length of `there`. It is useful if p times the first, q times the second, and the token cost less
    than the limit. Returns the first and the last base, in levels, and the column to which it leads from base
    0. Then follow the sums of `narrowed` from the first base; of a single base only the second sum. The last
    base is below the first if there is none. O(columns), and O(symbols) if it may be useful.

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
