"""What a batch of merges does to the counts of pairs: the driver's tables, heaps and slots.

Every part of the driver does this for its own pairs while the others do it for theirs; see pair_counts.py.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.fitting.kernels.pair_counts import NOT_KNOWN, create, part_of
from ubpe_numba.runtime.compiler import helper, section
from ubpe_numba.runtime.machine.intrinsics import prefetch
from ubpe_numba.runtime.tables.pairs import find, home, pair_of, remove


@helper
def _lower(state, part, entries, slots, free, pair, count):
    """Take `count` off a pair; below the threshold it leaves the table and its slot is free. O(1)."""
    i = find(entries, pair)
    if i >= 0:
        rest = entries[2 * i + 1] - count
        if rest >= state.threshold:
            entries[2 * i + 1] = rest
        else:
            if slots[i] >= 0:
                free[part.n_free] = slots[i]
                part.n_free += 1
                part.below += rest >= state.min_count
            part.n_pairs -= 1
            remove(entries, slots, i)


@section
def has_room(driver, task, need):
    """Whether tables, heaps, slots and the list of new pairs can take `need` more pairs in every part. O(P)."""
    if need > task.new_token.shape[1]:
        return False
    for p in range(driver.part.shape[0]):
        part = driver.part[p]
        if (
            2 * (part.n_pairs + need) > driver.slots.shape[1]
            or part.heap_size + need > driver.heap.shape[1]
            or part.n_slots + need > driver.free.shape[1]
        ):
            return False
    return True


@section
def account(driver, task, shards, weighted, borders, p):
    """Carry the counts of a merged batch for the pairs of part p. O(distinct neighbours).

    Merging x a b y into x z y takes one from (x, a) and (b, y) and gives one to (x, z) and (z, y). Where occurrences touch,
    a b a b -> z z, the pair (b, a) between them was counted as right neighbour only, and (z, z) appears instead. In 1 2 1 2 3,
    with (1, 2) -> 9: left neighbours none, right ones 1 and 3 once each, one twin. (2, 1) and (2, 3) lose one each; (9, 1) gets
    1 - 1 = 0, (9, 3) and (9, 9) get one each.

    Every part adds up the neighbours of all shards, which costs a tenth of the look-ups that it is spared; the first one also
    writes down what was learned, and whether an arena may be too short for the slices of the new pairs.

    A hundred lines: the two sides of a merge, and the pair of its twins, share a dozen rows of arrays.
    """
    state, part, entries, slots, free, heap = (
        driver.state[0], driver.part[p], driver.entries[p], driver.slots[p], driver.free[p], driver.heap[p]
    )  # fmt: skip
    sums, seen, lengths = driver.sums[p], driver.seen[p], driver.lengths
    new_token, new_slot, new_end = task.new_token[p], task.new_slot[p], task.new_end[p]
    delta, delta_end, base, merged = shards.delta, shards.delta_end, shards.base, shards.merged
    n_shards = delta_end.shape[0]
    n_parts = driver.part.shape[0]
    mask = slots.size - 1
    n_new = np.int64(0)
    new_end[0] = 0
    for i in range(task.batch[0].n):
        new = task.batch[0].first_id + i
        a = np.int64(task.left[i])
        b = np.int64(task.right[i])
        if borders is None or part_of(pair_of(a, b), n_parts) == p:
            free[part.n_free] = task.slot[i]
            part.n_free += 1
        twins = np.int64(0)
        if borders is not None:
            twins = borders.twins[i]
        for k in range(n_shards):
            if weighted is None:
                twins += merged[k, i].twins
            else:
                twins += weighted.merged[k, i].twins
        for side in range(2):
            n = 0
            for k in range(n_shards):
                first = base[k].cells
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
                    _lower(state, part, entries, slots, free, pair, count)
                if side and x == a:
                    count -= twins
                pair = pair_of(new, x) if side else pair_of(x, new)
                if borders is None or part_of(pair, n_parts) == p:
                    allowed = lengths[x] + lengths[new] <= state.longest
                    slot = create(state, part, p, n_parts, entries, slots, free, heap, pair, count, allowed)
                    if slot >= 0:
                        new_token[n_new] = x
                        new_slot[n_new] = slot
                        n_new += 1
            new_end[2 * i + 1 + side] = n_new
        pair = pair_of(new, new)
        if borders is None or part_of(pair, n_parts) == p:
            allowed = 2 * lengths[new] <= state.longest
            task.twin_slot[i] = create(state, part, p, n_parts, entries, slots, free, heap, pair, twins, allowed)
    part.root = NOT_KNOWN
    if p > 0:
        return
    for i in range(task.batch[0].n):
        documents = np.int64(0)
        replaced = np.int64(0)
        if borders is not None:
            documents -= borders.repeated[i]
        for k in range(n_shards):
            documents += merged[k, i].documents
            if weighted is None:
                replaced += merged[k, i].occurrences
            else:
                replaced += weighted.merged[k, i].occurrences
        row = driver.learned[task.batch[0].first_id + i]
        row.left = task.left[i]
        row.right = task.right[i]
        row.count = task.counts[i]
        row.documents = documents
        row.replaced = replaced
        task.filled_left[i] = task.left[i]
    state.arena_full = 0
    for k in range(n_shards):
        most = shards.state[k].arena_top
        for i in range(task.batch[0].n):
            most += 2 * merged[k, i].occurrences
        state.arena_full |= most > base[k + 1].arena - base[k].arena
