"""Finding which one of the pairs that make a token can occur: the last that is merged when the token is encoded by itself."""

from __future__ import annotations

import numpy as np

from ubpe_numba.formats.kernels.parts import NONE, lowest_rank
from ubpe_numba.runtime.compiler import helper, kernel, section
from ubpe_numba.runtime.tables.pairs import enter, find, pair_of


@section
def _rank(entries, left, right):
    """The rank of a pair of ids, int32, NONE if it is none or an id is -1. O(1) expected."""
    if left < 0 or right < 0:
        return np.int32(NONE)
    i = find(entries, pair_of(left, right))
    return np.int32(entries[2 * i + 1]) if i >= 0 else np.int32(NONE)


@kernel
def enter_ranks(left, right, entries):
    """Enter pairs by rank, int32[m] each, into `entries` int64[2 * capacity] (runtime/tables/pairs.py). O(m).

    It is filled with -1, its capacity a power of two of at least 2 * m. Of the pair (0, 1): entries hold 0 << 32 | 1 -> 0.
    """
    enter(left, right, 0, entries)


@helper
def _point(text, i, end):
    """The code point of the character at i, in UTF-8, and the place behind it, `end` at most."""
    lead = np.int64(text[i])
    size = np.int64(1) + np.int64(lead >= 0xC0) + np.int64(lead >= 0xE0) + np.int64(lead >= 0xF0)
    point = lead if size == 1 else lead & (0x7F >> size)
    stop = min(i + size, end)
    for j in range(i + 1, stop):
        point = point << 6 | (np.int64(text[j]) & 0x3F)
    return point, stop


@kernel
def last_merges(text, starts, which, id_of, made, entries, ends, ranks, parts, last):
    """The rank of the pair that is merged last when each of some tokens is encoded by itself, -1 if that does not end in one.

    text uint8, starts int64: tokens in UTF-8; which int64[k], some of them. id_of int32: the id of the symbol that a code point
    is, -1 for none. made int32[m], what pairs make, by rank; entries as `enter_ranks` fills them. ends, ranks, parts int32:
    scratch of the bytes of the longest token (parts.py; `parts` are the ids of the parts). last int64[k] gets the ranks. The
    caller allocates all of it. O(length**2 a token).

    Of a, b, c, ab, bc, abc with the ids 0 to 5, and the pairs a b, b c, a bc, ab c: abc is ab c after the first merge, so its
    last is 3; it never is a bc, the pair of rank 2.
    """
    for t in range(which.size):
        at = np.int64(starts[which[t]])
        end = np.int64(starts[which[t] + 1])
        n = np.int64(0)
        while at < end:
            point, at = _point(text, at, end)
            parts[n] = id_of[point] if point < id_of.size else np.int32(-1)
            ranks[n] = NONE
            n += 1
            ends[n - 1] = n
        for i in range(n - 1):
            ranks[i] = _rank(entries, parts[i], parts[i + 1])
        last[t] = -1
        while ends[0] < n:
            at, before = lowest_rank(ends, ranks, n)
            rank = ranks[at]
            if rank == NONE:
                break
            end = np.int64(ends[ends[at]])
            if at == 0 and end == n:
                last[t] = rank
            parts[at] = made[rank]
            ends[at] = end
            ranks[at] = NONE
            if end < n:
                ranks[at] = _rank(entries, parts[at], parts[end])
            if before >= 0:
                ranks[before] = _rank(entries, parts[before], parts[at])
