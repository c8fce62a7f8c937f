"""Counting all pairs of a freshly compacted shard, and listing where the frequent ones occur.

Up to DENSE tokens a V x V table counts in one sequential pass. Above, the pair starts are sorted by their left token (counting
sort into the end of the arena), then each bucket is counted in one dense array over the right tokens.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba._jit import kernel
from ubpe_numba.kernels.intrinsics import prefetch
from ubpe_numba.kernels.pairtable import pair_of

DENSE = 1024  # 8 MB of counts: still within the cache
AHEAD = 24  # how far to prefetch; flat between 16 and 32


@kernel
def count_dense(cells, n_tokens, counts):
    """Add the count of every adjacent pair to `counts`, int64[V * V] of zeros, at left * V + right. O(cells)."""
    x = cells[0]
    for p in range(1, cells.size):
        y = cells[p]
        if (x | y) >= 0:
            counts[np.int64(x) * n_tokens + y] += 1
        x = y


@kernel
def index_dense(cells, arena, start, length, n_tokens, counts, slot_of):
    """List the occurrences of the pairs with a slot; `slot_of` int32[V * V] is -1 elsewhere. `counts` is used up.

    Returns how much of the arena is in use. O(cells).
    """
    top = np.int64(0)
    for i in range(n_tokens * n_tokens):
        s = slot_of[i]
        if s >= 0:
            start[s] = top
            length[s] = counts[i]
            top += counts[i]
            counts[i] = start[s]
        else:
            counts[i] = -1
    x = cells[0]
    for p in range(1, cells.size):
        y = cells[p]
        if (x | y) >= 0:
            k = np.int64(x) * n_tokens + y
            at = counts[k]
            if at >= 0:
                arena[at] = p - 1
                counts[k] = at + 1
        x = y
    return top


@kernel
def sort_by_left(cells, arena, n_tokens, ends):
    """Sort the pair starts by left token into the last cells of the arena; `ends` int64[V + 1] gets where each bucket ends.

    The arena is at least twice as long as the text, so what is indexed at its front never meets what is still to be read.
    Returns the number of pair starts. O(cells + V).
    """
    n = cells.size
    ends[:] = 0
    for p in range(n - 1):
        if (cells[p] | cells[p + 1]) >= 0:
            ends[cells[p] + 1] += 1
    for t in range(n_tokens):
        ends[t + 1] += ends[t]
    total = ends[n_tokens]
    starts = arena[arena.size - total :]
    for p in range(n - 1):
        t = cells[p]
        if (t | cells[p + 1]) >= 0:
            starts[ends[t]] = p
            ends[t] += 1
    return total


@kernel
def count_sorted(cells, arena, right, seen, n_tokens, ends, total, threshold, floor, pairs, counts):
    """Pairs with count >= threshold, by left token ascending, into `pairs` and `counts` (int64, room for all).

    right, seen int32[V]: scratch, right zero. Returns how many there are, and how many others reach `floor`. O(total + V).
    """
    starts = arena[arena.size - total :]
    n = 0
    below = 0
    begin = np.int64(0)
    for left in range(n_tokens):
        end = ends[left]
        if end - begin >= floor:
            n_seen = 0
            for j in range(begin, end):
                prefetch(cells, starts[min(j + AHEAD, end - 1)] + 1)
                y = cells[starts[j] + 1]
                if right[y] == 0:
                    seen[n_seen] = y
                    n_seen += 1
                right[y] += 1
            for j in range(n_seen):
                y = seen[j]
                if right[y] >= threshold:
                    pairs[n] = pair_of(left, y)
                    counts[n] = right[y]
                    n += 1
                elif right[y] >= floor:
                    below += 1
                right[y] = 0
        begin = end
    return n, below


@kernel
def index_sorted(cells, arena, start, length, right_at, n_tokens, ends, total, pairs, counts, slots):
    """List the occurrences of `pairs` (by left token ascending, with exact `counts`) into `slots`. right_at int64[V]: scratch.

    Returns how much of the arena is in use. O(total + V).
    """
    starts = arena[arena.size - total :]
    top = np.int64(0)
    begin = np.int64(0)
    i = 0
    right_at[:n_tokens] = -1
    for left in range(n_tokens):
        end = ends[left]
        first = i
        while i < pairs.size and (pairs[i] >> 32) == left:
            start[slots[i]] = top
            length[slots[i]] = counts[i]
            right_at[pairs[i] & 0xFFFFFFFF] = top
            top += counts[i]
            i += 1
        if i > first:
            for j in range(begin, end):
                prefetch(cells, starts[min(j + AHEAD, end - 1)] + 1)
                p = starts[j]
                y = cells[p + 1]
                if right_at[y] >= 0:
                    arena[right_at[y]] = p
                    right_at[y] += 1
            for j in range(first, i):
                right_at[pairs[j] & 0xFFFFFFFF] = -1
        begin = end
    return top
