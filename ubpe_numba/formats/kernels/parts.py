"""The parts of one token while it is encoded by itself, in arrays over its symbols.

A part stands where it begins: `ends` says where it ends, which is where the next begins, `ranks` the rank of its merge with the
next, NONE without one. Entries between the beginnings of parts are out of use. "lower", of which "er" has been merged and then
"lo"; "lo" + "w" is a pair of rank 7, "w" + "er" one of rank 9:

    symbol     l    o    w    e    r
    ends       2    .    3    5    .
    ranks      7    .    9   NONE  .
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper

NONE = 0x7FFFFFFF  # the rank of what is no pair, above all others


@helper
def lowest_rank(ends, ranks, n):
    """Where the part begins that is merged with the next one first, and where the part before it begins, -1 if there is none.

    That of the lowest rank, the leftmost of several; 0 if no rank is below NONE. int32 `ends`, `ranks` of a token of n symbols,
    as drawn above, where the result is (0, -1). O(parts).
    """
    at, before, previous = np.int64(0), np.int64(-1), np.int64(-1)
    i = np.int64(0)
    best = ranks[0]
    while i < n:
        if ranks[i] < best:
            best = ranks[i]
            at = i
            before = previous
        previous = i
        i = np.int64(ends[i])
    return at, before
