"""Encoding by substitution for any order of pairs: the lowest rank present, or several ranks a pass.

This is for tables that are not in order of creation, and for the batch rule of the UBPE articles. The text is
a linked list of tokens. Each of its pairs with a rank is in the linked list of that rank, and a two-level
bitmap finds the lowest rank present.

With the merges 2 = (0, 1) and 3 = (2, 0), ranks 0 and 1, the document [0, 1, 0, 1, 0] before the first pass:

    position    0    1    2    3    4
    token       0    1    0    1    0
    following   1    2    3    4   -1       the next token of the text; `previous` the other way round
    rank        0   -1    0   -1   -1       of the pair that starts here; -1: it has none
    after       2         -1                the next pair of the same rank; `before` the other way round

    first = [0, -1], last = [2, -1]: rank 0 is at 0 and 2. words[0] = 0b01, a bit a rank; summary[0] = 0b1, a
    bit a word.

The pass turns the tokens at 0 and 2 into 2; positions 1 and 3 are now empty. When it ends, the pairs that
start at 0 and 2 are looked up again: (2, 2) has none, (2, 0) has rank 1. The next pass makes [2, 3] of it.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper, kernel, kernel_with_scratch
from ubpe_numba.runtime.machine.intrinsics import trailing_zeros
from ubpe_numba.runtime.tables.pairs import enter, pair_of, value_of

_ONE = np.uint64(1)
# instead of a rank: there is none, it is not looked up yet, the position holds no token
_NO_RANK, _PENDING, _GONE = -1, -2, -3


@kernel
def build_tables(tables, last, conflicts):
    """Enter the pairs with their ids; find for each rank the next rank that shares a token. O(m + V).

    `tables` holds the first four of linear_bpe.py: `pairs` int64, empty buckets (tables/pairs.py); `left` and
    `right` int32[m], whose rank i makes the id n_alphabet + i; `n_alphabet`. Result: `conflicts` int32[m], m
    if no later rank shares a token. Scratch: `last` int32[V], full of m. The caller allocates all. Merges 3 =
    (0, 1), 4 = (2, 2), 5 = (1, 2): conflicts = [2, 2, 3].
    """
    pairs, left, right, n_alphabet = tables
    enter(left, right, n_alphabet, pairs)
    for i in range(left.size - 1, -1, -1):
        conflicts[i] = min(last[left[i]], last[right[i]])
        last[left[i]] = i
        last[right[i]] = i


@helper
def _lowest(words, summary, start):
    """The lowest set bit at `start` or above, or -1: words [0b0110, 0b1] from 3 on -> 64. O(m / 4096).

    `words` and `summary` are uint64, as above.
    """
    w = start >> 6
    if w < words.size:
        x = words[w] >> np.uint64(start & 63)
        if x != np.uint64(0):
            return start + np.int64(trailing_zeros(x))
        w += 1
        k = w >> 6
        if k < summary.size:
            x = summary[k] >> np.uint64(w & 63)
            if x != np.uint64(0):
                w += np.int64(trailing_zeros(x))
                return (w << 6) + np.int64(trailing_zeros(words[w]))
            k += 1
            while k < summary.size:
                if summary[k] != np.uint64(0):
                    w = (k << 6) + np.int64(trailing_zeros(summary[k]))
                    return (w << 6) + np.int64(trailing_zeros(words[w]))
                k += 1
    return np.int64(-1)


@helper
def _leave(p, rank, after, before, first, last, words, summary):
    """Take position `p` out of the list of its rank; the arrays are those above. O(1)."""
    r = rank[p]
    if r < 0:
        return
    if before[p] >= 0:
        after[before[p]] = after[p]
    else:
        first[r] = after[p]
    if after[p] >= 0:
        before[after[p]] = before[p]
    else:
        last[r] = before[p]
    if first[r] < 0:
        words[r >> 6] &= ~(_ONE << np.uint64(r & 63))
        if words[r >> 6] == np.uint64(0):
            summary[r >> 12] &= ~(_ONE << np.uint64((r >> 6) & 63))


@kernel_with_scratch
def encode_pairs(symbols, offsets, tables, conflicts, batch, out, out_offsets):
    """Encode every document; returns the number of ids written.

    `symbols` int32 are alphabet ids, `offsets` int64[d + 1]. `tables` and `conflicts` int32[m] are those of
    `build_tables`. `out` int32 has room for all symbols. `out_offsets` int64[d + 1] and `out` are allocated
    by the caller. With `batch` False a pass merges all occurrences of the lowest rank present, left to right.
    With `batch` True it merges the lowest rank, then the ranks present below the next rank that shares a
    token with one of those. New pairs of a pass wait for its end. Source: UBPE tokenizers, part 2. O(symbols)
    updates of O(1). 28 bytes per symbol are allocated here.

    Merges 4 = (0, 1), 5 = (2, 3), 6 = (4, 5). The passes of [0, 1, 2, 3] are [4, 2, 3], [4, 5], [6]; by batch
    [4, 5], [6].
    """
    entries, left, right, first_id = tables
    m = left.size
    longest = np.int64(0)
    for d in range(offsets.size - 1):
        longest = max(longest, offsets[d + 1] - offsets[d])
    token = np.empty(longest, np.int32)
    following = np.empty(longest, np.int32)
    previous = np.empty(longest, np.int32)
    rank = np.empty(longest, np.int32)
    after = np.empty(longest, np.int32)  # in the list of the rank
    before = np.empty(longest, np.int32)
    pending = np.empty(2 * longest + 1, np.int32)
    first = np.full(m, -1, np.int32)
    last = np.full(m, -1, np.int32)
    words = np.zeros((m >> 6) + 1, np.uint64)
    summary = np.zeros((words.size >> 6) + 1, np.uint64)
    taken = np.empty(m, np.int32)
    w = np.int64(0)
    out_offsets[0] = 0
    for d in range(offsets.size - 1):
        n = offsets[d + 1] - offsets[d]
        for p in range(n):
            token[p] = symbols[offsets[d] + p]
            following[p] = p + 1
            previous[p] = p - 1
            rank[p] = _PENDING
            pending[p] = p
        if n > 0:
            following[n - 1] = -1
        n_pending = n
        while True:
            for i in range(n_pending):
                p = pending[i]
                if rank[p] != _PENDING:
                    continue
                rank[p] = _NO_RANK
                if following[p] < 0:
                    continue
                r = value_of(entries, pair_of(token[p], token[following[p]])) - first_id
                if r < 0:
                    continue
                rank[p] = r
                after[p] = -1
                before[p] = last[r]
                if last[r] >= 0:
                    after[last[r]] = p
                else:
                    first[r] = p
                    words[r >> 6] |= _ONE << np.uint64(r & 63)
                    summary[r >> 12] |= _ONE << np.uint64((r >> 6) & 63)
                last[r] = p
            n_pending = 0
            r = _lowest(words, summary, np.int64(0))
            if r < 0:
                break
            n_taken = 0
            bound = np.int64(conflicts[r])
            while r >= 0:
                taken[n_taken] = r
                n_taken += 1
                if not batch:
                    break
                bound = min(bound, np.int64(conflicts[r]))
                r = _lowest(words, summary, r + 1)
                if r >= bound:
                    break
            for i in range(n_taken):
                r = np.int64(taken[i])
                a = left[r]
                b = right[r]
                new = np.int32(first_id + r)
                while first[r] >= 0:
                    p = first[r]
                    if a == b:  # a run is replaced from its start, all of it
                        while previous[p] >= 0 and token[previous[p]] == a:
                            p = previous[p]
                    while True:
                        q = following[p]
                        _leave(p, rank, after, before, first, last, words, summary)
                        _leave(q, rank, after, before, first, last, words, summary)
                        rank[q] = _GONE
                        rank[p] = _PENDING
                        pending[n_pending] = p
                        n_pending += 1
                        token[p] = new
                        following[p] = following[q]
                        if following[q] >= 0:
                            previous[following[q]] = p
                        x = previous[p]
                        if x >= 0 and rank[x] != _PENDING:
                            _leave(x, rank, after, before, first, last, words, summary)
                            rank[x] = _PENDING
                            pending[n_pending] = x
                            n_pending += 1
                        p = following[p]
                        if a != b or p < 0 or token[p] != a or following[p] < 0 or token[following[p]] != a:
                            break
        p = np.int32(0) if n > 0 else np.int32(-1)
        while p >= 0:
            out[w] = token[p]
            w += 1
            p = following[p]
        out_offsets[d + 1] = w
    return w
