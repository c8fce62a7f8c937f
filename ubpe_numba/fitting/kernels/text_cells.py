"""The working text of a fit: cells, positions of frequent pairs, and records of a merge.

Also loading and counting.

A *cell* is one int32, or int16 for ids below NARROW. The text is divided into *segments*: documents, or parts
of a document that no token may leave. A token has as many cells as symbols. The first holds its id, the last
-(id + 3), and those between are stale (`DEAD` or older ids). -1 (`SEPARATOR`) is before, between and after
the segments. With `width[id]`, the cells of a token, its neighbors follow from its own cells, so linked lists
are not needed. Documents [1, 2, 3] and [1, 2], and the merge (1, 2) -> 4:

    cell               0   1   2   3   4   5   6   7
    at first          -1   1   2   3  -1   1   2  -1
    merged            -1   4  -7   3  -1   4  -7  -1        width[4] = 2
    compacted         -1   4   3  -1   4  -1                width[4] = 1
    separators         0           4           7            separator before each segment, and after the last
    segment_of_block   0                                    of cells 0..15: the segment of the first cell

In a text of frames, -2 (`FRAME`) is after every frame, and no token crosses it. The merge that makes one
token of a frame takes the cell in, so that whole frames meet. In frames of two, -1 1 2 -2 1 3 -2 -1 becomes
-1 4 . -7 1 3 -2 -1, width[4] = 3.

The *occurrences* of the pair in slot s are the ascending cells `arena[slices[2s]]` and on, `slices[2s + 1]`
of them. Some may be stale (the pair is gone from there), which a look at the cells tells. At first, with (1,
2) in slot 0 and (2, 3) in slot 1:

    slices             0 2   2 1                            start and length: slot 0, slot 1
    arena              1   5 | 2 |                          then the slices of new pairs, up to `arena_top`

The merge (1, 2) -> 4 of [3, 1, 2, 5] and [3, 1, 2, 6] is recorded for the driver and for `fill`:

    neighbours         3 5   3 6                            left and right neighbor of each occurrence
    delta              3 2 | 5 1   6 1                      distinct neighbors and counts: left, then right
    delta_end          0     1         3                    of merge i: left end at 2i + 1, right at 2i + 2
    merged[0]          occurrences 2, twins 0, documents 2, ...

The text of a large fit is divided into *shards*, one per thread. All shards lie side by side in the arrays of
one `Shards`, so a compiled kernel serves any number of them; `base[k]` is the beginning of shard k:

    cells              [ shard 0 ........ room ][ shard 1 ........ room ]
    base               ^ base[0].cells          ^ base[1].cells          ^ base[2].cells

A shard knows slots, not counts: the driver alone owns the tables of pairs.

All pairs of a freshly compacted shard are counted when an epoch begins, and the frequent pairs are listed. Up
to DENSE tokens a V x V table counts in one sequential pass. For more tokens, the cells at which a pair begins
are sorted by their left token (counting sort). Then each bucket is counted in one dense array over the right
tokens. The cells of the documents [0, 1, 0, 2] and [0, 1], sorted:

    cell     0  1  2  3  4  5  6  7  8
    token   -1  0  1  0  2 -1  0  1 -1
    starts   1  3  6 | 2               beginnings of pairs: buckets of left token 0, 1, 2
    ends               3  4  4         where each bucket ends
    pairs    (0, 1) twice, (0, 2) once | (1, 0) once

An occurrence of weight w counts as w, but is listed once. These kernels take bare arrays: a tuple of a dozen
costs half a second of compiling.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ubpe_numba.runtime.compiler import helper, kernel
from ubpe_numba.runtime.machine.intrinsics import prefetch
from ubpe_numba.runtime.tables.pairs import pair_of

SEPARATOR, FRAME = -1, -2
DEAD = np.int32(-(2**15))  # a cell in the middle of a token; never read, except that it must not be an id
NARROW = 2**15 - 3  # ids below and their -(id + 3) are int16
MOST_CELLS = 2**30  # of a shard: so that 1.6 times as many positions in the arena are int32

BLOCK = 4  # cells >> BLOCK is the block of a cell
DENSE = 1024  # tokens whose pairs are counted in a table: 4 MB of counts, still within the cache
AHEAD = 24  # how far to prefetch; flat between 16 and 32

_I64 = np.int64
#: Where a shard begins in the arrays that are sized by the text.
BASE = np.dtype([("cells", _I64), ("separators", _I64), ("blocks", _I64), ("arena", _I64)])
#: The state of a shard; a cache line each.
SHARD_STATE = np.dtype(
    {
        "names": [
            "n_cells",  # in use
            "arena_top",  # positions in use
            "first",  # the outermost tokens, -1 in an empty shard
            "last",
            "visits",  # occurrences that the last batch looked at, stale ones included
            "full",  # 1: the arena may be too short for the slices of the pairs that the batch creates
        ],
        "formats": [_I64] * 6,
        "itemsize": 64,
    },
    align=True,
)
#: Result of a merge in a shard.
MERGED = np.dtype(
    [
        ("at", _I64),  # where its occurrences begin in the arena
        ("occurrences", _I64),
        ("twins", _I64),  # occurrences directly after another: a b a b -> z z
        ("documents", _I64),  # that hold an occurrence, by weight
        ("in_first", _I64),  # 1 if the first document of the shard does
        ("in_last", _I64),
        ("first_after", _I64),  # the outermost tokens after the merge
        ("last_after", _I64),
    ]
)


class Shards(NamedTuple):
    """The arrays of K shards; n symbols in s segments, V tokens, S slots, R merges in the largest round."""

    base: np.ndarray  # BASE[K + 1]
    state: np.ndarray  # SHARD_STATE[K]
    cells: np.ndarray  # int32 or int16, [n + s + K + room at the ends]
    separators: np.ndarray  # int32[s + K]: cell of the separator before each segment, and after the last
    # int32[cells / 16 + K]: segment that holds the first cell of each block, or begins with it
    segment_of_block: np.ndarray
    arena: np.ndarray  # int32[1.6 n]: positions; grows from the front, sorting buffer at the end
    # int32[cells]: left and right neighbour, or -1, of each occurrence merged in the current round
    neighbours: np.ndarray
    # int32[2 * cells]: distinct neighbours of a merge, each with its count; left ones first
    delta: np.ndarray
    # int32[2 * cells], empty for a single shard: the neighbors of `delta`, dealt to parts (pair_table.py)
    dealt: np.ndarray
    slices: np.ndarray  # int32[K, 2S]: start and length
    counters: np.ndarray  # int32[K, 3, V]: left and right neighbours, zero between uses, and scratch
    # int32[K, 2, V]: index in the arena for the next position of (x, new) and of (new, y), or -1
    cursors: np.ndarray
    # int64[K, 2R + 1]: of merge i from 2i to 2i + 1 left neighbours, to 2i + 2 right ones
    delta_end: np.ndarray
    merged: np.ndarray  # MERGED[K, R]
    dealt_end: np.ndarray  # int64[K, 2P + 1]


class Shard(NamedTuple):
    """One of them: rows and slices of the same arrays."""

    state: np.ndarray  # SHARD_STATE[1]: numba returns no single record in a tuple
    cells: np.ndarray
    separators: np.ndarray
    segment_of_block: np.ndarray
    arena: np.ndarray
    neighbours: np.ndarray
    delta: np.ndarray
    slices: np.ndarray
    counters: np.ndarray
    cursors: np.ndarray
    delta_end: np.ndarray
    merged: np.ndarray


@helper
def shard_of(shards, k):
    """Shard k, without a copy. O(1)."""
    begin, end = shards.base[k], shards.base[k + 1]
    return Shard(
        shards.state[k : k + 1],
        shards.cells[begin.cells : end.cells],
        shards.separators[begin.separators : end.separators],
        shards.segment_of_block[begin.blocks : end.blocks],
        shards.arena[begin.arena : end.arena],
        shards.neighbours[begin.cells : end.cells],
        shards.delta[2 * begin.cells : 2 * end.cells],
        shards.slices[k],
        shards.counters[k],
        shards.cursors[k],
        shards.delta_end[k],
        shards.merged[k],
    )


@helper
def segment_at(separators, segment_of_block, p):
    """The segment that holds cell `p`. O(1 + segments that start in the 16 cells around it).

    separators [0, 4, 7], p = 5: the block of p begins in segment 0, which ends at cell 4 < 5, so it is
    segment 1. A search in `separators` instead took half the time of merging the King James Bible by verses.
    """
    s = segment_of_block[p >> BLOCK]
    while separators[s + 1] < p:
        s += 1
    return s


@helper
def last_token(cells, n_cells):
    """The token before the last separator, or -1 if there is none; in [-1, 1, 4, -7, -1] it is 4. O(1)."""
    x = cells[n_cells - 2] if n_cells > 1 else np.int32(SEPARATOR)
    return np.int64(x) if x >= SEPARATOR else -np.int64(x) - 3


def index_cells(shard: Shard) -> None:
    """Note for every block of cells the segment at its first cell, and a text's outermost tokens.

    The text has one cell per token.

    O(cells / 16 + segments).
    """
    separators, segment_of_block = shard.separators, shard.segment_of_block
    begun = np.bincount((separators[1:-1] + (1 << BLOCK) - 1) >> BLOCK, minlength=segment_of_block.size + 1)
    segment_of_block[:] = np.cumsum(begun[:-1])
    if separators.size > 1:
        shard.state["first"], shard.state["last"] = (
            shard.cells[separators[0] + 1],
            shard.cells[separators[-1] - 1],
        )


def load(ids: np.ndarray, first: int, offsets: np.ndarray, cells: np.ndarray) -> None:
    """Write the symbols `first : first + ids.size` of a shard, one at least. O(symbols + segments passed).

    `offsets` int64[s + 1] are those of its segments. Symbol j of segment s is in cell j - offsets[0] + s + 1.
    For the ids [1, 2, 3, 1, 2] and offsets [0, 3, 5], cells are [., 1, 2, 3, ., 1, 2, .].
    """
    segment, last = np.searchsorted(offsets, [first, first + ids.size - 1], "right") - 1
    begin = first - offsets[0] + segment + 1
    written = cells[begin : begin + ids.size + last - segment]
    if segment == last:
        written[:] = ids
    else:
        are_symbols = np.ones(written.size, bool)
        are_symbols[offsets[segment + 1 : last + 1] - first + np.arange(last - segment)] = False
        written[are_symbols] = ids


def lay_out(offsets: np.ndarray, shard: Shard) -> None:
    """Write the separators of a shard whose symbols are loaded. O(cells / 16 + segments).

    `offsets` int64[s + 1] are those of its segments; the arrays of the shard are filled. For offsets [0, 3,
    5], cells are [-1, 1, 2, 3, -1, 1, 2, -1] and separators [0, 4, 7].
    """
    shard.separators[:] = offsets - offsets[0] + np.arange(offsets.size)
    shard.cells[shard.separators] = SEPARATOR
    shard.state["n_cells"] = offsets[-1] - offsets[0] + offsets.size
    index_cells(shard)


@kernel
def compact(width, state, cells, separators):
    """Rewrite the text of a shard with one cell a token; all slices become void. O(cells).

    `width` is int32[V]; the other arrays are those of the shard, changed in place. For example, [-1, 4, -7,
    3, -1, 4, -7, -1] with width[4] = 2 becomes [-1, 4, 3, -1, 4, -1]. The caller then sets all widths to 1,
    and calls `index_cells`.
    """
    n_cells = state[0].n_cells
    w = np.int64(0)
    p = np.int64(0)
    s = 0
    while cells[p] != SEPARATOR:  # tokens that the shard before has taken over
        p += 1
    while p < n_cells:
        token = cells[p]
        cells[w] = token
        if token == SEPARATOR:
            separators[s] = w
            s += 1
        p += width[token] if token >= 0 else 1
        w += 1
    state[0].n_cells = w


@kernel
def count_dense(cells, n_tokens, counts):
    """Add the occurrences of every adjacent pair to `counts`, int32[V * V] of zeros, at left * V + right.

    O(cells).

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
    """Add the weights of the occurrences of every adjacent pair, int64[segments], to `counts`, int64[V * V].

    O(cells).

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
    """List the occurrences of the pairs with a slot; returns how much of the arena is in use.

    O(cells + V * V).

    `arena` int32 and `slices` int32[2S] of the shard are written here. `counts` int32[V * V] of this shard is
    used up. `slot_of` int32[V * V] is -1 for pairs that are not listed. Let cells be [-1, 0, 1, 0, 1, -1], V
    = 2, counts [0, 2, 1, 0] and slot_of [-1, 0, -1, -1]. Then slices become [0, 2], arena [1, 3], and the
    result is 2.
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
def sort_by_left(cells, first, last, starts, ends):
    """Sort the cells of pairs with a left token of first..last - 1 by it; returns their number.

    O(cells + V).

    starts int32, with room for them, and ends int64[V + 1] are filled: bucket t is `starts[ends[t - 1] :
    ends[t]]`, ascending, and those of other tokens are empty. Example above.
    """
    n = cells.size
    ends[:] = 0
    for p in range(n - 1):
        if first <= cells[p] < last and cells[p + 1] >= 0:
            ends[cells[p] + 1] += 1
    for t in range(ends.size - 1):
        ends[t + 1] += ends[t]
    total = ends[ends.size - 1]
    for p in range(n - 1):
        t = cells[p]
        if first <= t < last and cells[p + 1] >= 0:
            starts[ends[t]] = p
            ends[t] += 1
    return total


@kernel
def count_sorted(
    cells,
    separators,
    segment_of_block,
    weights,
    sums,
    counters,
    starts,
    ends,
    threshold,
    floor,
    pairs,
    counts,
):
    """The pairs with count >= threshold, by left token ascending. O(starts + V).

    `starts` and `ends` are those of `sort_by_left`. `weights` int64[segments] and `sums` int64[V] of zeros
    are None if each occurrence counts 1. `counters` int32[3, V] of the shard is zero and scratch. `pairs` and
    `counts`, int64 with room for all, are filled. Returns the number of pairs, and how many others reach
    `floor`. Example above, threshold 2, floor 1: pairs [(0, 1)], counts [2]; (1, 2).
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
def index_sorted(
    cells, separators, segment_of_block, weights, starts, ends, index_of, place, arena, pairs, slices, counts
):
    """List the occurrences of `pairs`, by left token ascending; returns how much of the arena is in use.

    O(starts + V).

    Some pairs may not occur in this shard. `starts` and `ends` are those of `sort_by_left`; `starts` may lie
    in the second half of the arena. `weights` is int64[segments], or None if each occurrence counts 1.
    `index_of` int32[V] and `place` int32[starts] are scratch. `arena`, `slices` int32[2 * pairs] (start and
    length) and `counts` int64[pairs] of zeros are filled. Example above, pairs [(0, 1)]: arena [1, 6], slices
    [0, 2], counts [2], the result is 2.
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
    """The pairs that may reach the threshold in K shards together. O(lists + V).

    They come from lists of the pairs that reach `least` in one shard.

    List i is `pairs[at[i] : ends[i]]` with its counts, int64, by left token ascending: of shard i for i < K,
    and one more of exact counts. `at` int64[K + 1] is used up. A pair that a shard does not list may occur
    there least - 1 times. scratch int64[3, V] of zeros. `found` and bounds, int64 with room for all, get
    pairs and upper bounds of their counts, by left token. Returns how many.

    Lists {a: 5}, {a: 3, b: 4} and {}, least 3, threshold 6: a is bounded by 8, b by 4 + 2 = 6, and both are
    found.
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
