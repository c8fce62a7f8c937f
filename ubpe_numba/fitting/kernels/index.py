"""Counting all pairs of a freshly compacted shard, and listing where the frequent ones occur.

Up to DENSE tokens a V x V table counts in one sequential pass. Above, the pair starts are sorted by their left token (counting
sort), then each bucket is counted in one dense array over the right tokens. An occurrence of weight w counts as w, but is
listed once. Bare arrays: a tuple of a dozen costs half a second of compiling.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.fitting.kernels.text_cells import SEPARATOR, segment_at
from ubpe_numba.runtime.jit import kernel
from ubpe_numba.runtime.machine.intrinsics import prefetch
from ubpe_numba.runtime.tables.pairs import pair_of

DENSE = 1024  # 4 MB of counts: still within the cache
AHEAD = 24  # how far to prefetch; flat between 16 and 32


@kernel
def count_dense(cells, n_tokens, counts):
    """Add the occurrences of every adjacent pair to `counts`, int32[V * V] of zeros, at left * V + right. O(cells)."""
    x = cells[0]
    for p in range(1, cells.size):
        y = cells[p]
        if (x | y) >= 0:
            counts[np.int64(x) * n_tokens + y] += 1
        x = y


@kernel
def weigh_dense(cells, weights, n_tokens, counts):
    """The same with weights, int64[segments], into int64[V * V]. O(cells)."""
    x = cells[0]
    segment = np.int64(-1)
    weight = np.int64(0)
    for p in range(1, cells.size):
        y = cells[p]
        if x == SEPARATOR:
            segment += 1
            weight = weights[segment]
        if (x | y) >= 0:
            counts[np.int64(x) * n_tokens + y] += weight
        x = y


@kernel
def index_dense(cells, arena, slices, n_tokens, counts, slot_of):
    """List the occurrences of the pairs with a slot; `slot_of` int32[V * V] is -1 elsewhere. `counts` is used up.

    Returns how much of the arena is in use. O(cells + V * V).
    """
    top = np.int64(0)
    for i in range(n_tokens * n_tokens):
        s = slot_of[i]
        if s >= 0:
            slices[2 * s] = top
            slices[2 * s + 1] = counts[i]
            begin = top
            top += counts[i]
            counts[i] = begin
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
def sort_by_left(cells, starts, n_tokens, ends):
    """Sort the pair starts by left token into `starts`, int32[cells]; `ends` int64[V + 1] gets where each bucket ends.

    Returns how many there are. O(cells + V).
    """
    n = cells.size
    ends[:] = 0
    for p in range(n - 1):
        if (cells[p] | cells[p + 1]) >= 0:
            ends[cells[p] + 1] += 1
    for t in range(n_tokens):
        ends[t + 1] += ends[t]
    total = ends[n_tokens]
    for p in range(n - 1):
        t = cells[p]
        if (t | cells[p + 1]) >= 0:
            starts[ends[t]] = p
            ends[t] += 1
    return total


@kernel
def count_sorted(
    cells, separators, segment_of_block, right, seen, weights, sums, starts, n_tokens, ends, threshold, floor, pairs, counts
):
    """Pairs with count >= threshold, by left token ascending, into `pairs` and `counts` (int64, room for all).

    right, seen int32[V], right zero, and sums int64[V] of zeros are scratch; weights int64[segments] and sums are None where an
    occurrence counts 1. Returns how many there are, and how many others reach `floor`. O(starts + V).
    """
    n = 0
    below = 0
    begin = np.int64(0)
    for left in range(n_tokens):
        end = ends[left]
        if weights is not None or end - begin >= min(threshold, floor):
            n_seen = 0
            for j in range(begin, end):
                prefetch(cells, starts[min(j + AHEAD, end - 1)] + 1)
                y = cells[starts[j] + 1]
                if right[y] == 0:
                    seen[n_seen] = y
                    n_seen += 1
                right[y] += 1
                if weights is not None:
                    sums[y] += weights[segment_at(separators, segment_of_block, starts[j])]
            for j in range(n_seen):
                y = seen[j]
                count = np.int64(right[y])
                right[y] = 0
                if weights is not None:
                    count = sums[y]
                    sums[y] = 0
                if count >= threshold:
                    pairs[n] = pair_of(left, y)
                    counts[n] = count
                    n += 1
                elif count >= floor:
                    below += 1
        begin = end
    return n, below


@kernel
def index_sorted(
    cells, arena, separators, segment_of_block, index_of, place, weights, starts, n_tokens, ends, pairs, slices, counts
):
    """List the occurrences of `pairs`, by left token ascending, of which some may not occur in this shard.

    index_of int32[V] and place int32[starts] are scratch. `slices` int32[2 * pairs] gets starts and lengths, `counts`
    int64[pairs] of zeros the counts. Returns how much of the arena is in use. `starts` may lie in its second half. O(starts + V).
    """
    top = np.int64(0)
    begin = np.int64(0)
    i = 0
    index_of[:n_tokens] = 0
    for left in range(n_tokens):
        end = ends[left]
        first = i
        while i < pairs.size and (pairs[i] >> 32) == left:
            index_of[pairs[i] & 0xFFFFFFFF] = i + 1
            slices[2 * i + 1] = 0
            i += 1
        if i > first:
            for j in range(begin, end):
                prefetch(cells, starts[min(j + AHEAD, end - 1)] + 1)
                of = np.int64(index_of[cells[starts[j] + 1]]) - 1
                place[j - begin] = of
                if of >= 0:
                    slices[2 * of + 1] += 1
                    if weights is None:
                        counts[of] += 1
                    else:
                        counts[of] += weights[segment_at(separators, segment_of_block, starts[j])]
            for of in range(first, i):
                slices[2 * of] = top
                top += slices[2 * of + 1]
                index_of[pairs[of] & 0xFFFFFFFF] = 0
            for j in range(begin, end):
                of = place[j - begin]
                if of >= 0:
                    arena[slices[2 * of]] = starts[j]
                    slices[2 * of] += 1
            for of in range(first, i):
                slices[2 * of] -= slices[2 * of + 1]
        begin = end
    return top


@kernel
def add_up(pairs, counts, at, ends, n_shards, n_tokens, least, threshold, sums, lists, seen, found, bounds):
    """The pairs that may reach the threshold in all shards together, out of lists of those that reach `least` in one.

    List i is `pairs[at[i] : ends[i]]` with its counts, by left token ascending; the first n_shards lists are the shards', one
    more is of exact counts. A pair that a shard does not list may occur there least - 1 times. sums int64[V] and lists int32[V],
    zero, and seen int32[V] are scratch; `found` and `bounds`, int64, get pairs and upper bounds, by left token. Returns how many.
    O(lists + V).
    """
    n = 0
    for left in range(n_tokens):
        n_seen = 0
        for i in range(at.size):
            while at[i] < ends[i] and (pairs[at[i]] >> 32) == left:
                right = pairs[at[i]] & 0xFFFFFFFF
                if sums[right] == 0:
                    seen[n_seen] = right
                    n_seen += 1
                sums[right] += counts[at[i]]
                lists[right] += i < n_shards
                at[i] += 1
        for j in range(n_seen):
            right = seen[j]
            bound = sums[right] + (n_shards - lists[right]) * (least - 1)
            if bound >= threshold:
                found[n] = pair_of(left, right)
                bounds[n] = bound
                n += 1
            sums[right] = 0
            lists[right] = 0
    return n
