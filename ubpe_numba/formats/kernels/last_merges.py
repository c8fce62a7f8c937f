"""Finding which one of the pairs that make a token can occur: the last that is merged when the token is encoded by itself."""

from __future__ import annotations

import numpy as np

from ubpe_numba.formats.kernels.parts import NONE, lowest_rank
from ubpe_numba.runtime.jit import kernel, section
from ubpe_numba.runtime.tables.pairs import enter, find, pair_of


@section
def _rank(entries, left, right):
    """The rank of a pair of ids, int32, NONE if it is none or an id is -1. O(1) expected."""
    if left < 0 or right < 0:
        return np.int32(NONE)
    i = find(entries, pair_of(left, right))
    return np.int32(entries[2 * i + 1]) if i >= 0 else np.int32(NONE)


@kernel
def last_merges(symbols, starts, left, right, made, entries, ends, ranks, parts, last):
    """The rank of the pair that is merged last when each of some tokens is encoded by itself, -1 if that does not end in one.

    symbols int32, starts int64[k + 1]: the ids of the symbols of the tokens, -1 for one without. left, right, made int32[m]:
    pairs by rank, and what they make. entries int64[2 * capacity], filled with -1, capacity a power of two of at least 2 * m,
    gets the pairs (runtime/tables/pairs.py). ends, ranks, parts int32: scratch of the longest token (parts.py; `parts` are the
    ids of the parts). last int64[k] gets the ranks. The caller allocates all of it. O(m + length**2 a token).

    Of a, b, c, ab, bc, abc with the ids 0 to 5, and the pairs a b, b c, a bc, ab c: abc, symbols [0, 1, 2], is ab c after the
    first merge, so its last is 3; it never is a bc, the pair of rank 2.
    """
    enter(left, right, 0, entries)
    for t in range(last.size):
        begin = starts[t]
        n = starts[t + 1] - begin
        for i in range(n):
            ends[i] = i + 1
            parts[i] = symbols[begin + i]
            ranks[i] = NONE
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
