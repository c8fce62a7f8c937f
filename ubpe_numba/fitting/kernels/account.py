"""What a round of merges does to the counts of pairs: the driver's tables, heaps and slots.

Every part of the driver does this for its own pairs while the others do it for theirs; see driver.py.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.fitting.kernels.pair_counts import (
    ARENA_FULL,
    BELOW,
    COUNT,
    HEAP_SIZE,
    HOLDERS,
    LEFT,
    LONGEST,
    MIN_COUNT,
    N_FREE,
    N_PAIRS,
    N_SLOTS,
    REPLACED,
    RIGHT,
    ROOT,
    THRESHOLD,
    TIES,
    create,
    part_of,
)
from ubpe_numba.fitting.kernels.text_cells import ARENA, ARENA_TOP, DOCUMENTS, OCCURRENCES, TWINS
from ubpe_numba.runtime.jit import helper, section
from ubpe_numba.runtime.machine.intrinsics import prefetch
from ubpe_numba.runtime.tables.pairs import find, home, pair_of, remove

# Helpers take bare arrays: a whole `Driver` would carry all of its arrays through every step of the compiler.


@helper
def _lower(part, threshold, min_count, n_parts, entries, slots, free, pair, count):
    """Take `count` off a pair; below the threshold it leaves the table and its slot is free. O(1)."""
    i = find(entries, pair)
    if i >= 0:
        rest = entries[2 * i + 1] - count
        if rest >= threshold:
            entries[2 * i + 1] = rest
        else:
            if slots[i] >= 0:
                free[part[N_FREE]] = slots[i]
                part[N_FREE] += 1
                part[BELOW] += rest >= min_count
            part[N_PAIRS] -= 1
            remove(entries, slots, i)


@section
def has_room(driver, task, need):
    """Whether tables, heaps, slots and the list of new pairs can take `need` more pairs in every part. O(P)."""
    if need > task.new_token.shape[1]:
        return False
    for p in range(driver.part.shape[0]):
        part = driver.part[p]
        if (
            2 * (part[N_PAIRS] + need) > driver.slots.shape[1]
            or part[HEAP_SIZE] + need > driver.heap_counts.shape[1]
            or part[N_SLOTS] + need > driver.free.shape[1]
        ):
            return False
    return True


@section
def account(driver, task, shards, weighted, borders, p):
    """Carry the counts of a merged round for the pairs of part p. O(distinct neighbours).

    Merging x a b y into x z y takes one from (x, a) and (b, y) and gives one to (x, z) and (z, y). Where occurrences touch,
    a b a b -> z z, the pair (b, a) between them was counted as right neighbour only, and (z, z) appears instead. Every part
    adds up the neighbours of all shards, which costs a tenth of the look-ups that it is spared; the first one also writes down
    what was learned.
    """
    state, part, entries, slots, free = driver.state, driver.part[p], driver.entries[p], driver.slots[p], driver.free[p]
    heap_counts, heap_ties, heap_pairs = driver.heap_counts[p], driver.heap_ties[p], driver.heap_pairs[p]
    sums, seen, lengths = driver.sums[p], driver.seen[p], driver.lengths
    new_token, new_slot, new_end = task.new_token[p], task.new_slot[p], task.new_end[p]
    delta, delta_end, base, merged = shards.delta, shards.delta_end, shards.base, shards.merged
    n_shards = delta_end.shape[0]
    n_parts = driver.part.shape[0]
    threshold, min_count, ties, longest = state[THRESHOLD], state[MIN_COUNT], state[TIES], state[LONGEST]
    mask = slots.size - 1
    n_new = np.int64(0)
    new_end[0] = 0
    for i in range(task.n[0]):
        new = task.first_id[0] + i
        a = np.int64(task.left[i])
        b = np.int64(task.right[i])
        if borders is None or part_of(pair_of(a, b), n_parts) == p:
            free[part[N_FREE]] = task.slot[i]
            part[N_FREE] += 1
        twins = np.int64(0)
        if borders is not None:
            twins = borders.twins[i]
        for k in range(n_shards):
            if weighted is None:
                twins += merged[k, i, TWINS]
            else:
                twins += weighted.merged[k, i, 1]
        for side in range(2):
            n = 0
            for k in range(n_shards):
                first = base[k, 0]
                for j in range(first + delta_end[k, 2 * i + side], first + delta_end[k, 2 * i + 1 + side]):
                    x = delta[2 * j]
                    if sums[x] == 0:
                        seen[n] = x
                        n += 1
                    if weighted is None:
                        sums[x] += delta[2 * j + 1]
                    else:
                        sums[x] += weighted.delta[j]
            if borders is not None:
                for j in range(borders.end[2 * i + side], borders.end[2 * i + 1 + side]):
                    x = borders.token[j]
                    if sums[x] == 0:
                        seen[n] = x
                        n += 1
                    sums[x] += borders.gain[j]
            for j in range(n):
                if j + 8 < n:
                    ahead = np.int64(seen[j + 8])
                    prefetch(entries, 2 * home(pair_of(b, ahead) if side else pair_of(ahead, a), mask))
                x = np.int64(seen[j])
                count = sums[x]
                sums[x] = 0
                pair = pair_of(b, x) if side else pair_of(x, a)
                if borders is None or part_of(pair, n_parts) == p:
                    _lower(part, threshold, min_count, n_parts, entries, slots, free, pair, count)
                if side and x == a:
                    count -= twins
                pair = pair_of(new, x) if side else pair_of(x, new)
                if borders is None or part_of(pair, n_parts) == p:
                    slot = create(
                        part, p, threshold, min_count, ties, n_parts, entries, slots, free, heap_counts, heap_ties, heap_pairs,
                        pair, count, lengths[x] + lengths[new] <= longest,
                    )  # fmt: skip
                    if slot >= 0:
                        new_token[n_new] = x
                        new_slot[n_new] = slot
                        n_new += 1
            new_end[2 * i + 1 + side] = n_new
        pair = pair_of(new, new)
        if borders is None or part_of(pair, n_parts) == p:
            task.twin_slot[i] = create(
                part, p, threshold, min_count, ties, n_parts, entries, slots, free, heap_counts, heap_ties, heap_pairs,
                pair, twins, 2 * lengths[new] <= longest,
            )  # fmt: skip
    part[ROOT] = -2
    if p > 0:
        return
    for i in range(task.n[0]):
        holders = np.int64(0)
        replaced = np.int64(0)
        if borders is not None:
            holders -= borders.repeated[i]
        for k in range(n_shards):
            holders += merged[k, i, DOCUMENTS]
            if weighted is None:
                replaced += merged[k, i, OCCURRENCES]
            else:
                replaced += weighted.merged[k, i, 0]
        row = driver.learned[task.first_id[0] + i]
        row[LEFT] = task.left[i]
        row[RIGHT] = task.right[i]
        row[COUNT] = task.counts[i]
        row[HOLDERS] = holders
        row[REPLACED] = replaced
        task.filled_left[i] = task.left[i]
    state[ARENA_FULL] = 0
    for k in range(n_shards):
        most = shards.state[k, ARENA_TOP]
        for i in range(task.n[0]):
            most += 2 * merged[k, i, OCCURRENCES]
        state[ARENA_FULL] |= most > base[k + 1, ARENA] - base[k, ARENA]
