"""Counting all pairs of a freshly compacted shard, and listing where the frequent ones occur.

Up to DENSE tokens a V x V table counts in one sequential pass. Above, the cells where a pair begins are sorted by their left
token (counting sort), then each bucket is counted in one dense array over the right tokens. The cells -1 0 1 0 2 -1 0 1 -1 of the
documents [0, 1, 0, 2] and [0, 1], sorted:

    cell     0  1  2  3  4  5  6  7  8
    token   -1  0  1  0  2 -1  0  1 -1
    starts   1  3  6 | 2               cells where a pair begins: buckets of left token 0, 1, 2
    ends               3  4  4         where each bucket ends
    pairs    (0, 1) twice, (0, 2) once | (1, 0) once

An occurrence of weight w counts as w, but is listed once. Cells are int32 with one cell a token, separators included. Bare arrays
everywhere: a tuple of a dozen costs half a second of compiling.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.fitting.kernels.text_cells import SEPARATOR, segment_at
from ubpe_numba.runtime.compiler import kernel
from ubpe_numba.runtime.machine.intrinsics import prefetch
from ubpe_numba.runtime.tables.pairs import pair_of

DENSE = 1024  # 4 MB of counts: still within the cache
AHEAD = 24  # how far to prefetch; flat between 16 and 32


@kernel
def count_dense(cells, n_tokens, counts):
    """Add the occurrences of every adjacent pair to `counts`, int32[V * V] of zeros, at left * V + right. O(cells).

    cells [-1, 0, 1, 0, -1], V = 2: counts become [0, 1, 1, 0].
    """
    x = cells[0]
    for p in range(1, cells.size):
        y = cells[p]
        if (x | y) >= 0:
            counts[np.int64(x) * n_tokens + y] += 1
        x = y


@kernel
def weigh_dense(cells, weights, n_tokens, counts):
    """The same with weights, int64[segments], into int64[V * V]. O(cells).

    cells [-1, 0, 1, -1, 1, 0, -1], weights [1, 5], V = 2: counts become [0, 1, 5, 0].
    """
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
    """List the occurrences of the pairs with a slot; returns how much of the arena is in use. O(cells + V * V).

    arena int32, slices int32[2S]: of the shard, written here. counts int32[V * V] of this shard, used up; slot_of int32[V * V]
    is -1 for pairs that are not listed. cells [-1, 0, 1, 0, 1, -1], V = 2, counts [0, 2, 1, 0], slot_of [-1, 0, -1, -1]: slices
    become [0, 2], arena [1, 3], the result is 2.
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
def sort_by_left(cells, starts, ends):
    """Sort the cells where a pair begins by left token; returns how many there are. O(cells + V).

    starts int32[cells] and ends int64[V + 1] are filled: bucket t is `starts[ends[t - 1] : ends[t]]`, ascending. Example above.
    """
    n = cells.size
    ends[:] = 0
    for p in range(n - 1):
        if (cells[p] | cells[p + 1]) >= 0:
            ends[cells[p] + 1] += 1
    for t in range(ends.size - 1):
        ends[t + 1] += ends[t]
    total = ends[ends.size - 1]
    for p in range(n - 1):
        t = cells[p]
        if (t | cells[p + 1]) >= 0:
            starts[ends[t]] = p
            ends[t] += 1
    return total


@kernel
def count_sorted(cells, separators, segment_of_block, weights, sums, counters, starts, ends, threshold, floor, pairs, counts):
    """The pairs with count >= threshold, by left token ascending. O(starts + V).

    starts, ends: of `sort_by_left`. weights int64[segments] and sums int64[V] of zeros are None where an occurrence counts 1;
    counters int32[3, V] of the shard, zero and scratch. pairs and counts, int64 with room for all, are filled. Returns how many
    pairs there are, and how many others reach `floor`. Example above, threshold 2, floor 1: pairs [(0, 1)], counts [2]; (1, 2).
    """
    right, seen = counters[1], counters[2]
    n = 0
    below = 0
    begin = np.int64(0)
    for left in range(ends.size - 1):
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
def index_sorted(cells, separators, segment_of_block, weights, starts, ends, index_of, place, arena, pairs, slices, counts):
    """List the occurrences of `pairs`, by left token ascending; returns how much of the arena is in use. O(starts + V).

    Some pairs may not occur in this shard. starts, ends: of `sort_by_left`; `starts` may lie in the second half of the arena.
    weights int64[segments], or None where an occurrence counts 1. index_of int32[V] and place int32[starts] are scratch. arena,
    slices int32[2 * pairs] (start and length) and counts int64[pairs] of zeros are filled. Example above, pairs [(0, 1)]: arena
    [1, 6], slices [0, 2], counts [2], the result is 2.
    """
    top = np.int64(0)
    begin = np.int64(0)
    i = 0
    index_of[: ends.size - 1] = 0
    for left in range(ends.size - 1):
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
def add_up(pairs, counts, at, ends, least, threshold, scratch, found, bounds):
    """The pairs that may reach the threshold in K shards together, of lists of those that reach `least` in one. O(lists + V).

    List i is `pairs[at[i] : ends[i]]` with its counts, int64, by left token ascending: of shard i for i < K, and one more of
    exact counts. `at` int64[K + 1] is used up. A pair that a shard does not list may occur there least - 1 times. scratch
    int64[3, V] of zeros; found and bounds, int64 with room for all, get pairs and upper bounds of their counts, by left token.
    Returns how many.

    Lists {a: 5}, {a: 3, b: 4} and {}, least 3, threshold 6: a is bounded by 8, b by 4 + 2 = 6, and both are found.
    """
    sums, lists, seen = scratch[0], scratch[1], scratch[2]
    n_shards = at.size - 1
    n = 0
    for left in range(sums.size):
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
