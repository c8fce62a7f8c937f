"""Merging pairs in a shard: rewrite the text, and tell the driver what the neighbours lost and gained."""

from __future__ import annotations

import numpy as np

from ubpe_numba._jit import helper, section
from ubpe_numba.kernels.intrinsics import prefetch
from ubpe_numba.kernels.shard import ARENA_FULL, ARENA_TOP, BLOCK, DEAD
from ubpe_numba.kernels.shard_index import AHEAD


@helper
def document_at(separators, document_of_block, p):
    """The document that holds cell `p`. O(1 + documents that start in the 16 cells around it).

    A search in `separators` instead took half the time of merging the King James Bible by verses.
    """
    d = document_of_block[p >> BLOCK]
    while separators[d + 1] < p:
        d += 1
    return d


@section
def merge(shard, task):
    """Replace the pairs of the round, in order, left to right: merge `i` makes token `task.first_id[0] + i`.

    [1, 2, 3, 1, 2] with (1, 2) -> 4 becomes [4, 3, 4]; [1, 1, 1] with (1, 1) -> 4 becomes [4, 1]. Per merge the shard is left
    with the distinct neighbours and their counts (`delta_*`), its occurrences moved to the front of their slice, the number
    of twins (new token beside new token) and of documents. A neighbour is counted in a dense array, so that the driver
    touches its hash table once per distinct neighbour and not once per occurrence. O(occurrences, stale ones included).
    """
    cells, arena, width, separators = shard.cells, shard.arena, shard.width, shard.separators
    before, after, left, right, seen = shard.before, shard.after, shard.left, shard.right, shard.scratch
    delta_token, delta_count, document_of_block = shard.delta_token, shard.delta_count, shard.document_of_block
    w = np.int64(0)
    n_delta = np.int64(0)
    shard.delta_end[0] = 0
    for i in range(task.n[0]):
        a = task.left[i]
        b = task.right[i]
        new = np.int32(task.first_id[0] + i)
        last = np.int32(-(new + 2))
        width_a = width[a]
        width_b = width[b]
        width[new] = width_a + width_b
        begin = shard.start[task.slot[i]]
        end = begin + shard.length[task.slot[i]]
        n = np.int64(0)
        twins = np.int64(0)
        n_right = 0
        first_delta = n_delta
        document = np.int32(-1)
        documents = np.int64(0)
        for j in range(begin, end):
            prefetch(cells, arena[min(j + AHEAD, end - 1)])
            p = arena[j]
            if cells[p] != a:
                continue
            q = p + width_a
            if cells[q] != b:
                continue
            arena[begin + n] = p
            y = cells[q + width_b]
            x = cells[p - 1]
            cells[p] = new
            if width_b > 1:
                cells[q] = DEAD
            cells[q + width_b - 1] = last
            after[w] = y
            before[w] = -1
            if y >= 0:
                if right[y] == 0:
                    seen[n_right] = y
                    n_right += 1
                right[y] += 1
            if x != -1:
                if x < 0:
                    x = -x - 2
                if x == new:
                    twins += 1
                    after[w - 1] = new
                else:
                    before[w] = x
                    if left[x] == 0:
                        delta_token[n_delta] = x
                        n_delta += 1
                    left[x] += 1
            n += 1
            w += 1
            d = document_at(separators, document_of_block, p)
            documents += d != document
            document = d
        for j in range(first_delta, n_delta):
            x = delta_token[j]
            delta_count[j] = left[x]
            left[x] = 0
        shard.delta_end[2 * i + 1] = n_delta
        for j in range(n_right):
            y = seen[j]
            delta_token[n_delta] = y
            delta_count[n_delta] = right[y]
            right[y] = 0
            n_delta += 1
        shard.delta_end[2 * i + 2] = n_delta
        shard.merged_at[i] = begin
        shard.merged[i] = n
        shard.merged_twins[i] = twins
        shard.merged_documents[i] = documents


@section
def fill(shard, task):
    """Write the slices of the pairs that the finished round created, of which the driver kept the frequent ones.

    `task.new_*` lists their slots per merge as `delta_*` lists the neighbours. Occurrences come in ascending order out of
    those of the merged pair, so every slice is ascending. Sets ARENA_FULL, and writes nothing more, when room is short.
    O(occurrences of the merges that created a frequent pair).
    """
    arena, before, after, width = shard.arena, shard.before, shard.after, shard.width
    left_at, right_at = shard.left_at, shard.right_at
    top = shard.state[ARENA_TOP]
    w = np.int64(0)
    for i in range(task.n[0]):
        n = shard.merged[i]
        begin = shard.merged_at[i]
        new = np.int32(task.first_id[0] + i)
        n_new = task.new_end[2 * i + 2] - task.new_end[2 * i]
        if n_new > 0 or task.twin_slot[i] >= 0:
            if top + 2 * n > arena.size:
                shard.state[ARENA_FULL] = 1
                return
            for j in range(shard.delta_end[2 * i], shard.delta_end[2 * i + 1]):
                left_at[shard.delta_token[j]] = -1
            for j in range(shard.delta_end[2 * i + 1], shard.delta_end[2 * i + 2]):
                right_at[shard.delta_token[j]] = -1
            right_at[new] = -1
            for j in range(task.new_end[2 * i], task.new_end[2 * i + 2]):
                slot = task.new_slot[j]
                shard.start[slot] = top
                shard.length[slot] = task.new_count[j]
                if j < task.new_end[2 * i + 1]:
                    left_at[task.new_token[j]] = top
                else:
                    right_at[task.new_token[j]] = top
                top += task.new_count[j]
            if task.twin_slot[i] >= 0:
                shard.start[task.twin_slot[i]] = top
                shard.length[task.twin_slot[i]] = shard.merged_twins[i]
                right_at[new] = top
                top += shard.merged_twins[i]
            for j in range(n):
                p = arena[begin + j]
                y = after[w + j]
                if y >= 0 and right_at[y] >= 0:
                    arena[right_at[y]] = p
                    right_at[y] += 1
                x = before[w + j]
                if x >= 0 and left_at[x] >= 0:
                    arena[left_at[x]] = p - width[x]
                    left_at[x] += 1
        w += n
    shard.state[ARENA_TOP] = top


@helper
def first_occurrence(cells, width, arena, start, length, slot, a, b):
    """Cell of the first occurrence of a pair that has one; the stale ones before it are forgotten. Amortised O(1)."""
    j = start[slot]
    while cells[arena[j]] != a or cells[arena[j] + width[a]] != b:
        j += 1
    length[slot] -= j - start[slot]
    start[slot] = j
    return np.int64(arena[j])


@helper
def count_documents(cells, width, arena, begin, end, separators, document_of_block, a, b):
    """How many documents hold the pair, whose slice is `arena[begin:end]`. O(end - begin)."""
    document = np.int32(-1)
    n = np.int64(0)
    for j in range(begin, end):
        p = arena[j]
        if cells[p] == a and cells[p + width[a]] == b:
            d = document_at(separators, document_of_block, p)
            n += d != document
            document = d
    return n
