"""Merging pairs in a shard: rewrite the text, and record the changed counts of neighbors.

The records (`neighbours`, `delta`, `delta_end`, `merged`) are shown in text_cells.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ubpe_numba.fitting.kernels.text_cells import AHEAD, DEAD, last_token, segment_at
from ubpe_numba.runtime.compiler import helper, section
from ubpe_numba.runtime.machine.intrinsics import prefetch

#: Fields of `MERGED` by weight instead of occurrences.
MERGED_BY_WEIGHT = np.dtype([("occurrences", np.int64), ("twins", np.int64)])


class Weighted(NamedTuple):
    """Arrays of documents with weights or boundaries, in addition to `Shards`.

    Without them an occurrence counts 1.
    """

    weights: np.ndarray  # int64[s + K]: of each segment, laid out as `Shards.separators`
    documents: np.ndarray  # int32[s + K]: the document that a segment belongs to
    sums: np.ndarray  # int64[K, 2, V]: weights of left and right neighbours, zero between uses
    delta: np.ndarray  # int64[cells]: weight of each entry of `Shards.delta`
    merged: np.ndarray  # MERGED_BY_WEIGHT[K, R]


def allocate_weighted(
    base: np.ndarray,
    segments: list[tuple[int, int]],
    document_of: np.ndarray | None,
    weights: np.ndarray | None,
    n_segments: int,
    tokens: int,
    merges: int,
) -> Weighted:
    """The arrays of K shards at `base`, of which shard k holds the segments of the range `segments[k]`.

    document_of int32[n_segments], None if every segment is a document; weights int64[n_segments], None if all
    are 1.
    """
    i32, i64 = np.int32, np.int64
    k = len(base) - 1
    document_of = np.arange(n_segments, dtype=i32) if document_of is None else document_of
    weights = np.ones(n_segments, i64) if weights is None else weights
    cells, separators = int(base["cells"][-1]), int(base["separators"][-1])
    of_shards, documents = np.zeros(separators, i64), np.zeros(separators, i32)
    for begin, (first, end) in zip(base["separators"].tolist(), segments, strict=False):
        of_shards[begin : begin + end - first] = weights[first:end]
        documents[begin : begin + end - first] = document_of[first:end]
    return Weighted(
        weights=of_shards,
        documents=documents,
        sums=np.zeros((k, 2, tokens), i64),
        delta=np.empty(cells, i64),
        merged=np.zeros((k, merges), MERGED_BY_WEIGHT),
    )


@helper
def weights_of(weighted, shards, k):
    """The part of shard k, without a copy; None of None. O(1)."""
    if weighted is None:
        return None
    begin, end = shards.base[k], shards.base[k + 1]
    return Weighted(
        weighted.weights[begin.separators : end.separators],
        weighted.documents[begin.separators : end.separators],
        weighted.sums[k],
        weighted.delta[begin.cells : end.cells],
        weighted.merged[k],
    )


@helper
def _run_is_odd(cells, p, width, token):
    """Whether an odd number of this token follows from cell `p` on. O(run)."""
    odd = False
    while cells[p] == token:
        p += width
        odd = not odd
    return odd


@section
def merge(shard, weighted, task, mirror):
    """Replace the pairs of the batch, in order, left to right: merge `i` makes token `first_id + i`.

    O(slices of the pairs).

    With (1, 2) -> 4, [1, 2, 3, 1, 2] becomes [4, 3, 4]. With (1, 1) -> 4, [1, 1, 1] becomes [4, 1], but [1,
    4] if (1, 1) is merged as the mirror of another pair.

    `shard` is that of `shard_of`, `weighted` is None or that of `weights_of` (the compiler makes two
    kernels), `task` a `Task`. Nothing is allocated. For each merge the shard then holds the distinct
    neighbors and their counts (`delta`), and a row of `merged`. The occurrences of the merge are at the front
    of their slice, with the neighbors of each. Neighbors are counted in a dense array, so that the driver
    accesses its hash table once per distinct neighbor and not once per occurrence.

    More than a hundred lines: the loop over occurrences and the records after it share two dozen arrays and
    sums.
    """
    cells, arena, width, separators = shard.cells, shard.arena, task.width, shard.separators
    neighbours, left, right, seen = shard.neighbours, shard.counters[0], shard.counters[1], shard.counters[2]
    delta, segment_of_block, merged = shard.delta, shard.segment_of_block, shard.merged
    if weighted is not None:
        weights, document_of, delta_weight = weighted.weights, weighted.documents, weighted.delta
        left_sum, right_sum = weighted.sums[0], weighted.sums[1]
    last_segment = separators.size - 2
    w, visits = np.int64(0), np.int64(0)
    n_delta = np.int64(0)
    shard.delta_end[0] = 0
    for i in range(task.batch[0].n):
        a = task.left[i]
        b = task.right[i]
        new = np.int32(task.batch[0].first_id + i)
        last = np.int32(-(new + 3))
        width_a = width[a]
        width_b = width[new] - width_a  # with the border of a frame that becomes one token
        begin = np.int64(shard.slices[2 * task.slot[i]])
        end = begin + shard.slices[2 * task.slot[i] + 1]
        visits += end - begin
        n = np.int64(0)
        twins = np.int64(0)
        n_right = 0
        first_delta = n_delta
        in_first = np.int64(0)
        document = np.int32(-1)
        documents = np.int64(0)
        total = np.int64(0)
        twin_total = np.int64(0)
        segment = np.int32(0)
        for j in range(begin, end):
            prefetch(cells, arena[min(j + AHEAD, end - 1)])
            p = arena[j]
            if cells[p] != a:
                continue
            q = p + width_a
            if cells[q] != b:
                continue
            if mirror is not None and a == b and mirror[new] < new:
                x = cells[p - 1]
                if x < 0:
                    x = -x - 3
                if x != a and x != new and _run_is_odd(cells, p, width_a, a):
                    continue
            arena[begin + n] = p
            segment = segment_at(separators, segment_of_block, p)
            if weighted is None:
                if n == 0:
                    in_first = np.int64(segment == 0)
                documents += segment != document
                document = segment
            else:
                if n == 0:
                    in_first = np.int64(document_of[segment] == document_of[0])
                weight = weights[segment]
                total += weight
                if document_of[segment] != document:
                    document = document_of[segment]
                    documents += weight
            y = cells[q + width_b]
            x = cells[p - 1]
            cells[p] = new
            if width_b > 1:
                cells[q] = DEAD
            cells[q + width_b - 1] = last
            neighbours[2 * w + 1] = y
            neighbours[2 * w] = -1
            if y >= 0:
                if right[y] == 0:
                    seen[n_right] = y
                    n_right += 1
                right[y] += 1
                if weighted is not None:
                    right_sum[y] += weight
            if x < 0:
                x = -x - 3
            if x >= 0:
                if x == new:
                    twins += 1
                    if weighted is not None:
                        twin_total += weight
                    neighbours[2 * w - 1] = new
                else:
                    neighbours[2 * w] = x
                    if left[x] == 0:
                        delta[2 * n_delta] = x
                        n_delta += 1
                    left[x] += 1
                    if weighted is not None:
                        left_sum[x] += weight
            n += 1
            w += 1
        for j in range(first_delta, n_delta):
            x = delta[2 * j]
            delta[2 * j + 1] = left[x]
            left[x] = 0
            if weighted is not None:
                delta_weight[j] = left_sum[x]
                left_sum[x] = 0
        shard.delta_end[2 * i + 1] = n_delta
        for j in range(n_right):
            y = seen[j]
            delta[2 * n_delta] = y
            delta[2 * n_delta + 1] = right[y]
            right[y] = 0
            if weighted is not None:
                delta_weight[n_delta] = right_sum[y]
                right_sum[y] = 0
            n_delta += 1
        shard.delta_end[2 * i + 2] = n_delta
        row = merged[i]
        row.at = begin
        row.occurrences = n
        row.twins = twins
        row.documents = documents
        row.in_first = in_first
        if weighted is None:
            row.in_last = n > 0 and segment == last_segment
        else:
            row.in_last = n > 0 and document == document_of[last_segment]
            weighted.merged[i].occurrences = total
            weighted.merged[i].twins = twin_total
        row.first_after = cells[separators[0] + 1]
        row.last_after = last_token(cells, shard.state[0].n_cells)
    shard.state[0].full = shard.state[0].arena_top + 2 * w > arena.size
    shard.state[0].visits = visits
    shard.state[0].first = cells[separators[0] + 1]
    shard.state[0].last = last_token(cells, shard.state[0].n_cells)


@section
def fill(shard, task):
    """Write the slices of the frequent pairs that the last batch created.

    `task.new_*` lists their tokens and slots per merge and part of the driver. Occurrences come in ascending
    order out of those of the merged pair, so every slice is ascending. The driver has made sure that the
    arena has room. O(occurrences of the merges that created a frequent pair).

    [3, 1, 2, 5, 3, 1, 2, 6] with (1, 2) -> 4 has become 3 4 . 5 3 4 . 6 in the cells 1 to 8. If (3, 4) is
    frequent and has slot 8, it gets 1 and 5 in the arena, from `arena_top` on. slices[16] is their index,
    slices[17] = 2.

    Seventy lines: the lists of a merge are laid out, and then filled, by the same cursors.
    """
    arena, neighbours, slices, width, delta = (
        shard.arena,
        shard.neighbours,
        shard.slices,
        task.width,
        shard.delta,
    )
    left, right, left_at, right_at = shard.counters[0], shard.counters[1], shard.cursors[0], shard.cursors[1]
    n_lists = 1 + task.batch[0].more_lists
    top = shard.state[0].arena_top
    w = np.int64(0)
    for i in range(task.batch[0].filled):
        n = shard.merged[i].occurrences
        begin = shard.merged[i].at
        new = np.int32(task.batch[0].filled_first + i)
        n_new = np.int64(task.twin_slot[i] >= 0)
        for part in range(n_lists):
            n_new += task.new_end[part, 2 * i + 2] - task.new_end[part, 2 * i]
        if n_new > 0:
            first, middle, last = (
                shard.delta_end[2 * i],
                shard.delta_end[2 * i + 1],
                shard.delta_end[2 * i + 2],
            )
            for j in range(first, middle):
                left[delta[2 * j]] = delta[2 * j + 1]
                left_at[delta[2 * j]] = -1
            for j in range(middle, last):
                right[delta[2 * j]] = delta[2 * j + 1]
                right_at[delta[2 * j]] = -1
            right_at[new] = -1
            right[task.filled_left[i]] -= shard.merged[i].twins  # (b, a) between twins: it is (new, new) now
            for part in range(n_lists):
                new_token, new_slot = task.new_token[part], task.new_slot[part]
                for j in range(task.new_end[part, 2 * i], task.new_end[part, 2 * i + 1]):
                    x = new_token[j]
                    slices[2 * new_slot[j]] = top
                    slices[2 * new_slot[j] + 1] = left[x]
                    left_at[x] = top
                    top += left[x]
                for j in range(task.new_end[part, 2 * i + 1], task.new_end[part, 2 * i + 2]):
                    y = new_token[j]
                    slices[2 * new_slot[j]] = top
                    slices[2 * new_slot[j] + 1] = right[y]
                    right_at[y] = top
                    top += right[y]
            if task.twin_slot[i] >= 0:
                slices[2 * task.twin_slot[i]] = top
                slices[2 * task.twin_slot[i] + 1] = shard.merged[i].twins
                right_at[new] = top
                top += shard.merged[i].twins
            for j in range(first, middle):
                left[delta[2 * j]] = 0
            for j in range(middle, last):
                right[delta[2 * j]] = 0
            right[task.filled_left[i]] = 0
            for j in range(n):
                p = arena[begin + j]
                y = neighbours[2 * (w + j) + 1]
                if y >= 0 and right_at[y] >= 0:
                    arena[right_at[y]] = p
                    right_at[y] += 1
                x = neighbours[2 * (w + j)]
                if x >= 0 and left_at[x] >= 0:
                    arena[left_at[x]] = p - width[x]
                    left_at[x] += 1
        w += n
    shard.state[0].arena_top = top


@helper
def first_occurrence(cells, width, arena, slices, slot, a, b):
    """Cell of the first occurrence of a pair, or -1; the stale ones before it leave its slice.

    Amortised O(1).
    """
    j = np.int64(slices[2 * slot])
    end = j + slices[2 * slot + 1]
    while j < end and (cells[arena[j]] != a or cells[arena[j] + width[a]] != b):
        j += 1
    slices[2 * slot] = j
    slices[2 * slot + 1] = end - j
    return np.int64(arena[j]) if j < end else np.int64(-1)


@section
def count_documents(shard, weighted, task, slot, a, b):
    """How many documents of the shard hold the pair, by weight, and whether the first and the last one do.

    [1, 2, 1, 2], [3] and [1, 2]: 2 documents, the first and the last among them. O(length of the slice).
    """
    cells, arena, separators, segment_of_block = (
        shard.cells,
        shard.arena,
        shard.separators,
        shard.segment_of_block,
    )
    begin = np.int64(shard.slices[2 * slot])
    last_segment = separators.size - 2
    document = np.int32(-1)
    n = np.int64(0)
    in_first, in_last = False, False
    for j in range(begin, begin + shard.slices[2 * slot + 1]):
        p = arena[j]
        if cells[p] == a and cells[p + task.width[a]] == b:
            segment = segment_at(separators, segment_of_block, p)
            if weighted is None:
                n += segment != document
                document = segment
                in_first |= segment == 0
                in_last |= segment == last_segment
            else:
                d = weighted.documents[segment]
                if d != document:
                    document = d
                    n += weighted.weights[segment]
                in_first |= d == weighted.documents[0]
                in_last |= d == weighted.documents[last_segment]
    return n, in_first, in_last
