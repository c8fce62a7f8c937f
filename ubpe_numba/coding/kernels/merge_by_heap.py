"""Encoding by merge rank with a heap: for ranks that count after every single merge, and for BPE-dropout.

The text is a linked list of tokens, and a heap holds `rank << 32 | position` of the pairs in it; an entry
whose pair has changed since is skipped. A pass takes all occurrences of the lowest rank, left to right, and
the pairs that it makes wait for its end. Merges 2 = (0, 1), 3 = (2, 2) and the document [0, 1, 0, 1]:

    token       0  1  0  1      heap 0 << 32 | 0, 0 << 32 | 2        the pass of rank 0
                2  .  2  .      heap 1 << 32 | 0                     the pass of rank 1
                3  .  .  .      `.` is -1, a position whose symbol went to the token before it

If a token may have a lower rank than its own parts, a pass ends with its first merge. So the pairs of the new
token count at once, even if their ranks are lower. With 2 = (3, 0), 3 = (0, 1) the document [0, 1, 0, 1]
becomes [3, 0, 1], and then [2, 1].

With dropout, each occurrence of a merge is left out with some probability. This is decided once, in the pass
of its rank. If it were decided in every later pass, as is possible in words of a few letters, later passes
would merge nearly all omissions of a long document. The random number is a function of (seed, document, rank,
position of the left token): the same for any order of work.

Source: I. Provilkov, D. Emelianenko and E. Voita, "BPE-Dropout", 2020; the mixing function is that of
SplitMix64 (G. Steele, D. Lea and C. Flood, 2014).
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper, kernel
from ubpe_numba.runtime.tables.pairs import pair_of, value_of

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


@helper
def mix(h, value):
    """A uint64 that depends on all bits of the uint64 `h` and of the integer `value`: the step of SplitMix64.

    O(1).
    """
    x = (h ^ np.uint64(value)) + _STEP
    x = (x ^ (x >> np.uint64(30))) * _FIRST
    x = (x ^ (x >> np.uint64(27))) * _SECOND
    return x ^ (x >> np.uint64(31))


@helper
def stream_of(seed, document):
    """The uint64 from which the draws in a document come, by its number. O(1).

    The seed is mixed first: mix(1, 0) and mix(0, 1) are equal, so a batch of seed 1 would repeat the draws of
    seed 0.
    """
    return mix(mix(seed, 0), document)


@helper
def push(heap, n, key):
    """Add a key to a heap of `n`, the smallest first; returns the new size. [2, 5] and 1 -> [1, 5, 2], 3.

    O(log n).
    """
    i = n
    while i > 0:
        parent = (i - 1) >> 1
        if heap[parent] <= key:
            break
        heap[i] = heap[parent]
        i = parent
    heap[i] = key
    return n + 1


@helper
def pop(heap, n):
    """Remove the smallest of `n` keys, heap[0]; returns the new size. [1, 5, 2] -> [2, 5], 2. O(log n)."""
    n -= 1
    key = heap[n]
    i = np.int64(0)
    while True:
        child = 2 * i + 1
        if child >= n:
            break
        if child + 1 < n and heap[child + 1] < heap[child]:
            child += 1
        if key <= heap[child]:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = key
    return n


@kernel
def merge_by_heap(
    symbols, offsets, document_number, tables, one_by_one, dropout, seed, links, heap, out, out_offsets
):
    """Encode every document; returns the number of ids written.

    `symbols` int32 are alphabet ids, `offsets` int64[d + 1]. `document_number` is that of the first one.
    `tables` are those of `merge_by_pass.build_tables`. `dropout` is float64 in 0..1, `seed` uint64. `out`
    int32 has room for all symbols. `out_offsets` is int64[d + 1]. Ranks may be in any order. New pairs of a
    pass wait for its end; with `one_by_one`, bool, a pass ends at its first merge.

    Scratch for a longest document of n symbols: links int32[5, n], heap int64[3 * n]. The caller allocates
    all. O(n log n). Merges as above: [0, 1, 0, 1] -> [3] with dropout 0, [0, 1, 0, 1] with dropout 1, [0, 1,
    2] where only the first draw is.
    """
    entries, left, right, first_id = tables
    token, following, previous = links[0], links[1], links[2]
    pending = links[3:].reshape(2 * links.shape[1])  # whose pair is new
    w = np.int64(0)
    out_offsets[0] = 0
    for d in range(offsets.size - 1):
        n = offsets[d + 1] - offsets[d]
        of_document = stream_of(seed, document_number + d)
        for p in range(n):
            token[p] = symbols[offsets[d] + p]
            following[p] = p + 1
            previous[p] = p - 1
        n_heap = np.int64(0)
        n_pending = np.int64(n)
        for p in range(n):
            pending[p] = p
        while True:
            for i in range(n_pending):
                p = np.int64(pending[i])
                if token[p] >= 0 and following[p] < n:
                    merged = value_of(entries, pair_of(token[p], token[following[p]]))
                    if merged >= 0:
                        n_heap = push(heap, n_heap, ((merged - first_id) << 32) | p)
            n_pending = np.int64(0)
            if n_heap == 0:
                break
            rank = heap[0] >> 32
            of_rank = mix(of_document, rank)
            while n_heap > 0 and heap[0] >> 32 == rank:
                p = heap[0] & 0xFFFFFFFF
                n_heap = pop(heap, n_heap)
                if token[p] != left[rank] or following[p] == n or token[following[p]] != right[rank]:
                    continue
                if (
                    dropout > 0.0
                    and np.float64(mix(of_rank, p) >> np.uint64(11)) * (1.0 / (1 << 53)) < dropout
                ):
                    continue
                q = np.int64(following[p])
                token[p] = first_id + rank
                token[q] = -1
                following[p] = following[q]
                if following[q] < n:
                    previous[following[q]] = p
                pending[n_pending] = p
                n_pending += 1
                if previous[p] >= 0:
                    pending[n_pending] = previous[p]
                    n_pending += 1
                if one_by_one:
                    break
        p = np.int64(0)
        while p < n:
            out[w] = token[p]
            w += 1
            p = np.int64(following[p])
        out_offsets[d + 1] = w
    return w
