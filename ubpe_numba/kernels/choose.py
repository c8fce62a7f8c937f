"""Choosing the merges of a round: the best pairs that do not get in each other's way."""

from __future__ import annotations

import numpy as np

from ubpe_numba._jit import helper, section
from ubpe_numba.kernels.borders import first_border, holds_border
from ubpe_numba.kernels.driver import (
    BELOW,
    FEWEST_DOCUMENTS,
    FIRST_SEEN,
    HEAP_SIZE,
    LIMIT,
    N_PAIRS,
    NEXT_ID,
    ROOT,
    ROUND,
    SMALLEST,
    TIES,
    WHOLE_ROUNDS,
    part_of,
)
from ubpe_numba.kernels.heap import heap_pop, heap_push, heap_sink
from ubpe_numba.kernels.pairtable import find, pair_of, remove
from ubpe_numba.kernels.shard import CELLS, shard_of
from ubpe_numba.kernels.shard_merge import count_documents, first_occurrence, weights_of


@helper
def _settle_count(rule, part, entries, counts, ties, pairs):
    """Correct the root of the heap until its count is exact; its index in the table, -1 if no pair is left. Amortised O(log)."""
    while part[HEAP_SIZE] > 0:
        order = pairs[0]
        i = find(entries, ~order if rule == FEWEST_DOCUMENTS else order)
        if i < 0:
            part[HEAP_SIZE] = heap_pop(counts, ties, pairs, part[HEAP_SIZE])
            continue
        count = entries[2 * i + 1]
        if count == counts[0]:
            return i
        # a first occurrence only moves back: what was exact is a lower bound now; documents are not known any more
        tie = ties[0] & ~np.int64(1) if rule == FIRST_SEEN else np.int64(0)
        heap_sink(counts, ties, pairs, part[HEAP_SIZE], 0, count, tie, order)
    return np.int64(-1)


@section
def _first_seen(task, shards, borders, slot, left, right):
    """Where a pair occurs first: its cell, counted through all shards. Amortised O(shards)."""
    for k in range(shards.state.shape[0]):
        shard = shard_of(shards, k)
        cell = first_occurrence(shard.cells, task.width, shard.arena, shard.slices, slot, left, right)
        if cell < 0:
            cell = first_border(shards, borders, k, left, right)
        if cell >= 0:
            return shards.base[k, CELLS] + cell
    return np.int64(0)  # never: a live pair occurs


@section
def _documents(task, shards, weighted, borders, slot, left, right):
    """How many documents hold a pair. O(length of its slices)."""
    n = np.int64(0)
    held = False  # by the document that goes on in the next shard
    for k in range(shards.state.shape[0]):
        shard = shard_of(shards, k)
        here, in_first, in_last = count_documents(shard, weights_of(weighted, shards, k), task, slot, left, right)
        n += here
        if held and in_first and borders.continued[k]:
            n -= borders.weight[k]
        held = in_last or (held and borders.continued[k] and shard.separators.size == 2)
        if not held and holds_border(shards, borders, k, left, right):
            held = True
            n += borders.weight[k + 1]
    return n


@section
def _best(driver, task, shards, weighted, borders):
    """The part whose root is the best pair of all, its tie key exact where it matters; -1 if no pair is left.

    Tie keys, smaller is better, are computed only for pairs that come to the root with their true count: FIRST_SEEN holds
    2 * cell + 1 when exact and 2 * (a lower bound) otherwise, since a first occurrence only moves back; FEWEST_DOCUMENTS holds
    the number of documents, or 0 while unknown, and stays unknown if nobody ties. Under these rules there is one part only.
    """
    rule = driver.state[TIES]
    best = np.int64(-1)
    for p in range(driver.part.shape[0]):
        part = driver.part[p]
        counts, ties, pairs = driver.heap_counts[p], driver.heap_ties[p], driver.heap_pairs[p]
        while part[ROOT] == -2:
            i = _settle_count(rule, part, driver.entries[p], counts, ties, pairs)
            if rule != SMALLEST and i >= 0:
                n = part[HEAP_SIZE]
                order = pairs[0]
                pair = ~order if rule == FEWEST_DOCUMENTS else order
                left, right = np.int32(pair >> 32), np.int32(pair & 0xFFFFFFFF)
                slot = driver.slots[p, i]
                tied = (n > 1 and counts[1] == counts[0]) or (n > 2 and counts[2] == counts[0])
                if rule == FIRST_SEEN and ties[0] & 1 == 0:
                    tie = 2 * _first_seen(task, shards, borders, slot, left, right) + 1
                    heap_sink(counts, ties, pairs, n, 0, counts[0], tie, order)
                    continue
                if rule == FEWEST_DOCUMENTS and ties[0] == 0 and tied:
                    tie = _documents(task, shards, weighted, borders, slot, left, right)
                    heap_sink(counts, ties, pairs, n, 0, counts[0], tie, order)
                    continue
            part[ROOT] = i
        if part[ROOT] >= 0:
            if best < 0 or counts[0] > driver.heap_counts[best, 0]:
                best = p
            elif counts[0] == driver.heap_counts[best, 0] and pairs[0] < driver.heap_pairs[best, 0]:
                best = p
    return best


@helper
def _pop(part, counts, ties, pairs):
    part[HEAP_SIZE] = heap_pop(counts, ties, pairs, part[HEAP_SIZE])
    part[ROOT] = -2


@section
def _push_back(driver, count, tie, order):
    """Return to the heap of its part what was popped. O(log heap)."""
    pair = ~order if driver.state[TIES] == FEWEST_DOCUMENTS else order
    p = part_of(pair, driver.part.shape[0])
    part = driver.part[p]
    part[HEAP_SIZE] = heap_push(
        driver.heap_counts[p], driver.heap_ties[p], driver.heap_pairs[p], part[HEAP_SIZE], count, tie, order
    )
    part[ROOT] = -2


@helper
def _count_of(entries, pair):
    """Count of a pair, or 0 if it lies below the threshold (and so below every candidate). O(1)."""
    p = part_of(pair, entries.shape[0])
    i = find(entries[p], pair)
    return entries[p, 2 * i + 1] if i >= 0 else np.int64(0)


@helper
def _keep(driver, task, kept, left, right, count):
    """Make the pair merge number `kept` of the round; it leaves its table. O(1)."""
    pair = pair_of(left, right)
    p = part_of(pair, driver.part.shape[0])
    i = find(driver.entries[p], pair)
    new = driver.state[NEXT_ID] + kept
    task.left[kept] = left
    task.right[kept] = right
    task.counts[kept] = count
    task.slot[kept] = driver.slots[p, i]
    task.width[new] = task.width[left] + task.width[right]
    driver.lengths[new] = driver.lengths[left] + driver.lengths[right]
    remove(driver.entries[p], driver.slots[p], i)
    driver.part[p, N_PAIRS] -= 1


@section
def _choose_many(driver, task, shards, weighted, borders, room):
    """The candidates are the best pairs by count. The first is kept; a later one, (l2, r2), is kept if it shares no token with
    those kept, and if for each of them, (l1, r1), the border pairs (r2, l1) and (r1, l2) are strictly rarer than it is.
    Source: UBPE tokenizers, part 1. O(candidates * kept).
    """  # noqa: D205
    state, used, candidates = driver.state, driver.used, driver.candidates
    wanted = candidates.shape[0]
    n = 0
    while n < wanted:
        p = _best(driver, task, shards, weighted, borders)
        if p < 0:
            break
        candidates[n, 0] = driver.heap_counts[p, 0]
        candidates[n, 1] = driver.heap_ties[p, 0]
        candidates[n, 2] = driver.heap_pairs[p, 0]
        n += 1
        _pop(driver.part[p], driver.heap_counts[p], driver.heap_ties[p], driver.heap_pairs[p])
    below = np.int64(0)
    for p in range(driver.part.shape[0]):
        below += driver.part[p, BELOW]
    thin = n < wanted and below > 0  # rarer pairs belong among the candidates
    stamp = state[ROUND]
    kept = 0
    for i in range(n):
        count = candidates[i, 0]
        order = candidates[i, 2]
        pair = ~order if state[TIES] == FEWEST_DOCUMENTS else order
        left = pair >> 32
        right = pair & 0xFFFFFFFF
        good = not thin and kept < room and used[0, left] != stamp and used[0, right] != stamp
        if good:
            for j in range(kept):
                if (
                    _count_of(driver.entries, pair_of(right, task.left[j])) >= count
                    or _count_of(driver.entries, pair_of(task.right[j], left)) >= count
                ):
                    good = False
                    break
        if good:
            used[0, left] = stamp
            used[0, right] = stamp
            task.left[kept] = left
            task.right[kept] = right
            task.counts[kept] = count
            kept += 1
        else:
            _push_back(driver, count, candidates[i, 1], order)
    for i in range(kept):
        _keep(driver, task, i, np.int64(task.left[i]), np.int64(task.right[i]), task.counts[i])
    return kept


@section
def _choose_one_by_one(driver, task, shards, weighted, borders, room):
    """As many merges of a fit that makes one a round as can be made at once with the same result.

    Let q1, q2 ... be the pairs from the best to the worst, and q1 ... qk taken. q = (l, r), the next, is taken too if
    (1) l is not the right part of a taken pair and r is not the left part of one,
    (2) 2 * count(q) is at least (unless ties go to the smaller pair: more than) the count of every taken pair (a, a),
    (3) under other rules of ties than the smaller pair: no other pair is as frequent as q.
    Then one merge after the other would choose q as well, with the same count, documents and occurrences:

    * By (1) no occurrence of q overlaps one of a taken pair, so the count of q does not change; and the conflict of (1) is
      symmetric, so the merges of the batch may be made in any order.
    * A pair of old tokens never gains. Take a pair (u, v) with a new token in it. Every boundary between tokens of the new text is
      one of the old text, where it stood between the old tokens x, the last part of u (or u itself), and y, the first part of v.
      So count(u, v) <= old count of o = (x, y). If u is new, x is the right part of a taken pair, and if v is new, y is the left
      part of one: o is in conflict with that pair, so o is not q, and unless it is a taken pair itself (below) it ranks behind q,
      as all that rank before q are taken: count(u, v) <= count(o) <= count(q). With (3) the last is "less than". With ties to the
      smaller pair, o > q as a pair if they are equally frequent. u new: u > l. u old: u = x >= l, and where x = l, v is new and
      greater than r. So (u, v) > q: q still wins.
    * o is a taken pair itself only if that is (a, a). Then u is its token z, and v is z or a. Merged from left to right, (z, z)
      and (z, a) are left at most count(a, a) / 2 times each, since both stand for at least two of its occurrences. With (2) q is
      more frequent, or as frequent and smaller, because l < z.
    * What is too long to be merged does not compete: if o is, then so is (u, v), which is no shorter.
    * Pairs below the threshold are rarer than q before and after.

    O(taken * log heap).
    """
    state, used = driver.state, driver.used
    rule, stamp = state[TIES], state[ROUND]
    kept = 0
    twin_count = np.int64(0)
    while kept < min(room, task.left.size):
        p = _best(driver, task, shards, weighted, borders)
        if p < 0:
            break
        count, tie, order = driver.heap_counts[p, 0], driver.heap_ties[p, 0], driver.heap_pairs[p, 0]
        pair = ~order if rule == FEWEST_DOCUMENTS else order
        left = pair >> 32
        right = pair & 0xFFFFFFFF
        if used[1, left] == stamp or used[0, right] == stamp or 2 * count < twin_count + (rule != SMALLEST):
            break
        _pop(driver.part[p], driver.heap_counts[p], driver.heap_ties[p], driver.heap_pairs[p])
        if rule != SMALLEST and kept > 0:
            p = _best(driver, task, shards, weighted, borders)
            if p >= 0 and driver.heap_counts[p, 0] == count:
                _push_back(driver, count, tie, order)
                break
        used[0, left] = stamp
        used[1, right] = stamp
        if left == right:
            twin_count = max(twin_count, count)
        _keep(driver, task, kept, left, right, count)
        kept += 1
    return kept


@section
def choose(driver, task, shards, weighted, borders):
    """Fill the task with the next merges; returns how many: 0 if the tables are too thin or empty."""
    state = driver.state
    room = state[LIMIT] - state[NEXT_ID]
    state[ROUND] += 1
    if driver.candidates.shape[0] > 1:
        if state[WHOLE_ROUNDS]:
            room = np.int64(driver.candidates.shape[0])
        kept = _choose_many(driver, task, shards, weighted, borders, room)
    else:
        kept = _choose_one_by_one(driver, task, shards, weighted, borders, room)
    task.n[0] = kept
    task.first_id[0] = state[NEXT_ID]
    return kept
