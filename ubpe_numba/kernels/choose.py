"""Choosing the merges of a round: the best pairs that do not get in each other's way."""

from __future__ import annotations

import numpy as np

from ubpe_numba._jit import helper, section
from ubpe_numba.kernels.driver import (
    BELOW,
    FEWEST_DOCUMENTS,
    FIRST_SEEN,
    HEAP_SIZE,
    LIMIT,
    N_PAIRS,
    NEXT_ID,
    ROUND,
    TIES,
    WHOLE_ROUNDS,
)
from ubpe_numba.kernels.heap import heap_pop, heap_push, heap_sink
from ubpe_numba.kernels.pairtable import find, pair_of, remove
from ubpe_numba.kernels.shard_merge import count_documents, first_occurrence


@section
def _settle_root(state, entries, slots, counts, ties, pairs, cells, width, arena, start, length, separators, document_of_block):
    """Correct the root of the heap until it is exact; returns its index in the table, or -1 if no pair is left.

    Tie keys, smaller is better, are computed only for pairs that come to the root with their true count:
    FIRST_SEEN holds 2 * cell + 1 when exact and 2 * (a lower bound) otherwise, since a first occurrence only moves back;
    FEWEST_DOCUMENTS holds the number of documents, or 0 while unknown, and stays unknown if nobody ties.
    Amortised O(log heap), plus O(length of slice) for a count of documents.
    """
    rule = state[TIES]
    while state[HEAP_SIZE] > 0:
        n = state[HEAP_SIZE]
        tie = ties[0]
        order = pairs[0]
        pair = ~order if rule == FEWEST_DOCUMENTS else order
        i = find(entries, pair)
        if i < 0:
            state[HEAP_SIZE] = heap_pop(counts, ties, pairs, n)
            continue
        count = entries[2 * i + 1]
        if count != counts[0]:
            tie = tie & ~np.int64(1) if rule == FIRST_SEEN else np.int64(0)
        elif rule == FIRST_SEEN and tie & 1 == 0:
            left, right = np.int32(pair >> 32), np.int32(pair & 0xFFFFFFFF)
            tie = 2 * first_occurrence(cells, width, arena, start, length, slots[i], left, right) + 1
        elif rule == FEWEST_DOCUMENTS and tie == 0 and ((n > 1 and counts[1] == count) or (n > 2 and counts[2] == count)):
            left, right = np.int32(pair >> 32), np.int32(pair & 0xFFFFFFFF)
            begin = start[slots[i]]
            end = begin + length[slots[i]]
            tie = count_documents(cells, width, arena, begin, end, separators, document_of_block, left, right)
        else:
            return i
        heap_sink(counts, ties, pairs, n, 0, count, tie, order)
    return np.int64(-1)


@helper
def _count_of(entries, pair):
    """Count of a pair, or 0 if it lies below the threshold (and so below every candidate). O(1)."""
    i = find(entries, pair)
    return entries[2 * i + 1] if i >= 0 else np.int64(0)


@section
def choose(driver, shard, task):
    """Fill the task with the next merges; returns how many, 0 if the table is too thin or empty.

    The candidates are the best pairs by count. The first is kept; a later one, (l2, r2), is kept if it shares no token with
    those kept, and if for each of them, (l1, r1), the border pairs (r2, l1) and (r1, l2) are strictly rarer than it is.
    Source: UBPE tokenizers, part 1. O(candidates * kept).
    """
    state, entries, slots, used = driver.state, driver.entries, driver.slots, driver.used
    counts, ties, pairs, candidates = driver.heap_counts, driver.heap_ties, driver.heap_pairs, driver.candidates
    cells, width, arena, start, length = shard.cells, shard.width, shard.arena, shard.start, shard.length
    separators, document_of_block = shard.separators, shard.document_of_block
    task_left, task_right = task.left, task.right
    wanted = candidates.shape[0]
    room = state[LIMIT] - state[NEXT_ID]
    if state[WHOLE_ROUNDS]:
        room = wanted
    n = 0
    while n < wanted:
        i = _settle_root(
            state, entries, slots, counts, ties, pairs, cells, width, arena, start, length, separators, document_of_block
        )
        if i < 0:
            break
        candidates[n, 0] = counts[0]
        candidates[n, 1] = ties[0]
        candidates[n, 2] = pairs[0]
        n += 1
        state[HEAP_SIZE] = heap_pop(counts, ties, pairs, state[HEAP_SIZE])
    thin = n < wanted and state[BELOW] > 0  # rarer pairs belong among the candidates
    state[ROUND] += 1
    stamp = state[ROUND]
    kept = 0
    for i in range(n):
        count = candidates[i, 0]
        order = candidates[i, 2]
        pair = ~order if state[TIES] == FEWEST_DOCUMENTS else order
        left = pair >> 32
        right = pair & 0xFFFFFFFF
        good = not thin and kept < room and used[left] != stamp and used[right] != stamp
        if good:
            for j in range(kept):
                if (
                    _count_of(entries, pair_of(right, task_left[j])) >= count
                    or _count_of(entries, pair_of(task_right[j], left)) >= count
                ):
                    good = False
                    break
        if good:
            used[left] = stamp
            used[right] = stamp
            task_left[kept] = left
            task_right[kept] = right
            task.counts[kept] = count
            task.slot[kept] = slots[find(entries, pair)]
            kept += 1
        else:
            state[HEAP_SIZE] = heap_push(counts, ties, pairs, state[HEAP_SIZE], count, candidates[i, 1], order)
    for i in range(kept):
        remove(entries, slots, find(entries, pair_of(task_left[i], task_right[i])))
    state[N_PAIRS] -= kept
    task.n[0] = kept
    task.first_id[0] = state[NEXT_ID]
    return kept
