"""Encoding by merge rank, one merge at a time: for tables in which a token may stand before its own parts.

The pair of the lowest rank is merged, of several the leftmost; the pairs that the new token makes with its neighbours count at
once, even if their ranks are lower. Pairs wait in a heap, by rank and then position; one whose tokens have changed meanwhile is
left out when its turn comes. The text is a linked list of tokens, as in dropout.py. Merges 2 = (3, 0), 3 = (0, 1)::

    [0, 1, 0, 1]    heap (3, 0) (3, 2)    3 at 0: [3, 0, 1], new (2, 0)
    [3, 0, 1]       heap (2, 0) (3, 2)    2 at 0: [2, 1]
    [2, 1]          heap (3, 2)           position 2 has no token any more
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.kernels.dropout import pop, push
from ubpe_numba.runtime.compiler import helper, kernel
from ubpe_numba.runtime.tables.pairs import find, pair_of


@helper
def _wait(heap, n_heap, entries, first_id, left, right, p):
    """Push the pair of tokens that starts at p, if it is one; returns the size of the heap. O(log n)."""
    f = find(entries, pair_of(left, right))
    if f < 0:
        return n_heap
    return push(heap, n_heap, ((entries[2 * f + 1] - first_id) << 32) | p)


@kernel
def encode_one_by_one(symbols, offsets, tables, links, heap, out, out_offsets):
    """Encode every document; returns the number of ids written.

    symbols int32 (alphabet ids), offsets int64[d + 1]; tables, a `PairTables` of by_pairs.py as a plain tuple; out int32, room
    for all symbols; out_offsets int64[d + 1]. Scratch for a longest document of n symbols: links int32[3, n], heap int64[3 * n].
    The caller allocates all. O(n log n). The example is drawn above: [0, 1, 0, 1] -> [2, 1].
    """
    entries, left, right, first_id = tables
    token, following, previous = links[0], links[1], links[2]
    w = np.int64(0)
    out_offsets[0] = 0
    for d in range(offsets.size - 1):
        begin = offsets[d]
        n = np.int64(offsets[d + 1] - begin)
        n_heap = np.int64(0)
        for p in range(n):
            token[p] = symbols[begin + p]
            following[p] = p + 1
            previous[p] = p - 1
        for p in range(n - 1):
            n_heap = _wait(heap, n_heap, entries, first_id, token[p], token[p + 1], p)
        while n_heap > 0:
            rank = heap[0] >> 32
            p = heap[0] & 0xFFFFFFFF
            n_heap = pop(heap, n_heap)
            q = np.int64(following[p])
            if token[p] != left[rank] or q == n or token[q] != right[rank]:
                continue
            token[p] = first_id + rank
            token[q] = -1
            q = np.int64(following[q])
            following[p] = q
            if q < n:
                previous[q] = p
                n_heap = _wait(heap, n_heap, entries, first_id, token[p], token[q], p)
            if previous[p] >= 0:
                before = np.int64(previous[p])
                n_heap = _wait(heap, n_heap, entries, first_id, token[before], token[p], before)
        p = np.int64(0)
        while p < n:
            out[w] = token[p]
            w += 1
            p = np.int64(following[p])
        out_offsets[d + 1] = w
    return w
