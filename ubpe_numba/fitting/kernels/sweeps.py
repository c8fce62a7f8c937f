"""Merging dense pairs: sweep the text from left to right, 64 cells at a time.

No occurrence is listed.

A cell is one byte, or two. The two largest values are the separator, before, between and after the documents,
and the dead cell; ids are below. A token takes as many cells as the parts it was merged of, and all but the
first are dead. Documents [1, 2, 1, 2] and [3], and the merge (1, 2) -> 4, with `s` and `.` for the two:

    cell            0  1  2  3  4  5  6  7
    at first        s  1  2  1  2  s  3  s         width[1] = width[2] = 1
    merged          s  4  .  4  .  s  3  s         width[4] = 2: cell + width is the next token
    compacted       s  4  4  s  3  s               width[4] = 1
    separators      0        3     5

A sweep makes a *batch* of merges, which can be made in any order (the proof is in choose.py). Several threads
sweep the text in *pieces*. A piece begins with a token that the batch does not merge with its predecessor, so
pieces give the same result as one sweep of the whole text. The pair across the border, in which either token
may change, is left to the caller.

The pairs that lose or gain an occurrence follow from the neighbors at each replacement: x 1 2 y becomes x 4
y. So (x, 1) and (2, y) lose one each, (x, 4) and (4, y) gain it. Here x and y are the tokens at that moment,
new tokens included; the sum of all changes does not depend on the order of replacements. Above, with the
separator counted as a token:

    before[0]       s 1, 4 1                       tokens left of the two replacements: s, then the new token
    after[0]        1 1, s 1                       to the right: first 1, then s
    (2, 1)          1 - 1 = 0                      1 was once to the right; (4, 1): 1 - 1 = 0; (4, 4): 1
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types

from ubpe_numba.runtime.compiler import kernel
from ubpe_numba.runtime.machine.intrinsics import _instruction, _splat, count_of_bits, trailing_zeros

LANES = 64
BLOCK = 4096  # cells that all merges of a batch go through before the next ones: they stay in the cache
#: The result of a merge in a piece of the text.
SWEPT = np.dtype(
    [
        ("replaced", np.int64),
        ("documents", np.int64),  # that hold an occurrence in the piece
        ("first", np.int64),  # the first of them, -1 without one
        ("last", np.int64),  # and the last
        ("segment", np.int64),  # the segment in which that was counted
        ("until", np.int64),  # cell of the separator after it
    ]
)


@_instruction(types.uint64, types.Array, types.intp, types.intp, types.int64, types.int64)
def pairs_in_64(builder, item, gap, left, right):
    """`pairs_in_64(cells, p, gap, left, right)`: bit j is set for left, right at p + j, p + gap + j.

    cells [1, 2, 1, 3, 1, 2, ...], p = 0, gap 1, (1, 2) -> 0b10001. One comparison for each: a byte a cell is
    the best.
    """
    kind = ir.VectorType(item.type.pointee, LANES)

    def equal(first, value):
        vector = builder.load(builder.bitcast(first, kind.as_pointer()), align=1)
        return builder.icmp_unsigned("==", vector, _splat(builder, value, kind))

    hits = builder.and_(equal(item, left), equal(builder.gep(item, [gap]), right))
    return builder.bitcast(hits, ir.IntType(LANES))


@kernel
def count_pairs(cells, begin, end, counts):
    """Count the pairs whose left token is in cells begin..end - 1 of a text without dead cells. O(cells).

    `cells` is uint8 or uint16, as in all of these kernels. `counts` is int64[V + 1, V + 1]: the last row and
    column are of separators. For [s, 0, 1, 0, s] and V = 2, counts become [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    with begin = 0, end = 4.
    """
    most = np.int64(counts.shape[0] - 1)
    x = min(np.int64(cells[begin]), most)
    for p in range(begin + 1, end + 1):
        y = min(np.int64(cells[p]), most)
        counts[x, y] += 1
        x = y


@kernel
def sweep(cells, begin, end, separators, document_of, batch, width, at, before, after, swept):
    """Merge a batch in the cells begin..end - 1, left to right.

    O(cells * merges / 64 + occurrences + documents * merges).

    The array of cells extends for 64 + `width` of any token after its text. `separators` is int64[s + 1].
    `document_of` int32[s] is the document of each segment, or None if segments are documents. `batch`
    int64[k, 3]: left, right and new token. `width` is int64[V]. `at` int64[BLOCK + LANES] is scratch. The
    neighbors of each merge are added to `before` and `after`, int64[k, dead + 1]; those in another piece
    count as dead. `swept` SWEPT[k] is zero, except that first, last and until are -1, and segment is that at
    `begin`. The caller allocates all. Example above.
    """
    dead = np.int64(before.shape[1] - 1)
    for start in range(begin, end, BLOCK):
        stop = min(end, start + BLOCK)
        for i in range(batch.shape[0]):
            a, b, new = batch[i, 0], batch[i, 1], batch[i, 2]
            gap = width[a]
            beyond = gap + width[b]
            n = np.int64(0)
            for p in range(start, stop, LANES):
                word = pairs_in_64(cells, p, gap, a, b)
                if p + LANES > stop:
                    word &= (np.uint64(1) << np.uint64(stop - p)) - np.uint64(1)
                n_hits = count_of_bits(word)
                # two are written whether there or not: no branch to be predicted wrong
                at[n] = p + np.int64(trailing_zeros(word))
                word &= word - np.uint64(1)
                at[n + 1] = p + np.int64(trailing_zeros(word))
                for j in range(n + 2, n + n_hits):
                    word &= word - np.uint64(1)
                    at[j] = p + np.int64(trailing_zeros(word))
                n += n_hits
            row = swept[i]
            for j in range(n):
                p = at[j]
                if a == b and (cells[p] != a or cells[p + gap] != b):  # a a a: the second pair is gone
                    continue
                x, y = dead, dead
                if p > begin:
                    q = p - 1
                    while cells[q] == dead:
                        q -= 1
                    x = np.int64(cells[q])
                if p + beyond < end:
                    y = np.int64(cells[p + beyond])
                before[i, x] += 1
                after[i, y] += 1
                cells[p] = new
                cells[p + gap] = dead
                row.replaced += 1
                if p > row.until:
                    while separators[row.segment + 1] < p:
                        row.segment += 1
                    row.until = separators[row.segment + 1]
                    document = row.segment
                    if document_of is not None:
                        document = np.int64(document_of[row.segment])
                    row.documents += document != row.last
                    row.last = document
                    if row.first < 0:
                        row.first = document


@kernel
def compact(cells, begin, end, separators, first, separator, dropped):
    """Move the cells begin..end - 1 below `dropped` to the left, from `begin` on; returns their end.

    O(cells).

    `separators` int64[d + 1]: those in the piece, from `first` on, are updated. `dropped` is the dead cell
    or, to remove both, the separator, which is less. Then each is set to the beginning of the document after
    it. Merged, above: compacted, returns 6.
    """
    w = begin
    for p in range(begin, end):
        c = np.int64(cells[p])
        cells[w] = c
        if c == separator:
            separators[first] = w
            first += 1
        w += c < dropped
    return w
