"""A binary heap of pairs: the largest count first, then the smallest tie key, then the smallest pair.

Three parallel int64 arrays `counts`, `ties`, `pairs`; the caller keeps the size and the capacity. Entries are lazy: a count in
the heap may be too large (counts only fall), and whoever looks at the root corrects it.
"""

from __future__ import annotations

from ubpe_numba.runtime.jit import helper


@helper
def _before(counts, ties, pairs, i, count, tie, pair):
    """Whether entry `i` ranks before (count, tie, pair). O(1)."""
    if counts[i] != count:
        return counts[i] > count
    if ties[i] != tie:
        return ties[i] < tie
    return pairs[i] < pair


@helper
def heap_push(counts, ties, pairs, n, count, tie, pair):
    """Add an entry to a heap of `n`; returns the new size. O(log n)."""
    i = n
    while i > 0:
        parent = (i - 1) >> 1
        if _before(counts, ties, pairs, parent, count, tie, pair):
            break
        counts[i] = counts[parent]
        ties[i] = ties[parent]
        pairs[i] = pairs[parent]
        i = parent
    counts[i] = count
    ties[i] = tie
    pairs[i] = pair
    return n + 1


@helper
def heap_sink(counts, ties, pairs, n, i, count, tie, pair):
    """Write an entry at `i` or below, where it belongs. O(log n)."""
    while True:
        child = 2 * i + 1
        if child >= n:
            break
        if child + 1 < n and _before(counts, ties, pairs, child + 1, counts[child], ties[child], pairs[child]):
            child += 1
        if not _before(counts, ties, pairs, child, count, tie, pair):
            break
        counts[i] = counts[child]
        ties[i] = ties[child]
        pairs[i] = pairs[child]
        i = child
    counts[i] = count
    ties[i] = tie
    pairs[i] = pair


@helper
def heap_pop(counts, ties, pairs, n):
    """Drop the root of a heap of `n`; returns the new size. O(log n)."""
    n -= 1
    if n > 0:
        heap_sink(counts, ties, pairs, n, 0, counts[n], ties[n], pairs[n])
    return n
