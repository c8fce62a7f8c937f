"""A binary heap of pairs: the largest count first, then the smallest tie key, then the smallest pair.

An array of `ENTRY` records; the caller keeps the size and the capacity. Entry i stands above entries 2i + 1 and 2i + 2:

    index    0          1          2          3
    count    9          7          9          7         0 before 2, as its pair is smaller
    pair     (1, 2)     (0, 5)     (3, 4)     (0, 6)

Entries are lazy: a count in the heap may be too large (counts only fall), and is corrected when the entry reaches the root.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper

#: A pair that may be merged.
ENTRY = np.dtype(
    [
        ("count", np.int64),
        ("tie", np.int64),  # smaller ones first among equal counts
        ("pair", np.int64),  # smaller ones first among equal ties; complemented where the larger pair is to be first
    ]
)


@helper
def _before(heap, i, count, tie, pair):
    """Whether entry `i` ranks before (count, tie, pair). O(1)."""
    if heap[i].count != count:
        return heap[i].count > count
    if heap[i].tie != tie:
        return heap[i].tie < tie
    return heap[i].pair < pair


@helper
def _write(heap, i, count, tie, pair):
    heap[i].count = count
    heap[i].tie = tie
    heap[i].pair = pair


@helper
def heap_push(heap, n, count, tie, pair):
    """Add an entry to a heap of `n`; returns the new size. O(log n).

    A count of 8 pushed onto the heap above goes to index 4, under 7, and changes places with it.
    """
    i = n
    while i > 0:
        parent = (i - 1) >> 1
        if _before(heap, parent, count, tie, pair):
            break
        _write(heap, i, heap[parent].count, heap[parent].tie, heap[parent].pair)
        i = parent
    _write(heap, i, count, tie, pair)
    return n + 1


@helper
def heap_sink(heap, n, i, count, tie, pair):
    """Write an entry at `i` or below, where it belongs. O(log n)."""
    while True:
        child = 2 * i + 1
        if child >= n:
            break
        if child + 1 < n and _before(heap, child + 1, heap[child].count, heap[child].tie, heap[child].pair):
            child += 1
        if not _before(heap, child, count, tie, pair):
            break
        _write(heap, i, heap[child].count, heap[child].tie, heap[child].pair)
        i = child
    _write(heap, i, count, tie, pair)


@helper
def heap_pop(heap, n):
    """Drop the root of a heap of `n`; returns the new size. O(log n)."""
    n -= 1
    if n > 0:
        heap_sink(heap, n, 0, heap[n].count, heap[n].tie, heap[n].pair)
    return n
