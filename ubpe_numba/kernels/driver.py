"""The driver of a fit: which pairs are live, which of them is best, and what the current round does.

The driver owns the table of pairs, the heap and the slots, and never looks at the text. Only pairs with count >= threshold are
in the table; rarer ones can neither win nor, since no count rises after the round that creates a pair, come back above it. When
too few are left the threshold falls and `fit.py` counts again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ubpe_numba._jit import helper, kernel, section
from ubpe_numba.kernels.heap import heap_push
from ubpe_numba.kernels.intrinsics import prefetch
from ubpe_numba.kernels.pairtable import find, home, pair_of, put, remove

# rules of a tie between equal counts
SMALLEST, FIRST_SEEN, FEWEST_DOCUMENTS = 0, 1, 2

# state
(
    NEXT_ID,  # the id that the next merge creates
    LIMIT,  # merging stops when NEXT_ID reaches it
    WHOLE_ROUNDS,  # 1: the round that reaches LIMIT is finished all the same
    THRESHOLD,
    MIN_COUNT,
    BELOW,  # pairs that may lie in [MIN_COUNT, THRESHOLD): an upper bound, 0 only if there are none
    TIES,
    HEAP_SIZE,
    N_PAIRS,  # in the table
    N_FREE,  # slots to be used again
    N_SLOTS,  # slots ever given out
    ROUND,
    STAGE,
    VISITED,  # occurrences looked at, stale ones included: the work done
    NEED,  # room that a round asks for
    N_STATE,
) = range(16)


class Driver(NamedTuple):
    """The arrays of the driver; V tokens, C candidates."""

    state: np.ndarray  # int64[N_STATE]
    entries: np.ndarray  # the table, see pairtable.py
    slots: np.ndarray
    free: np.ndarray  # int32: stack of free slots
    heap_counts: np.ndarray  # int64, see heap.py
    heap_ties: np.ndarray
    heap_pairs: np.ndarray
    used: np.ndarray  # int64[V]: the last round that took a pair with this token
    candidates: np.ndarray  # int64[C, 3]: count, tie, heap pair
    left: np.ndarray  # int32[V]: result, the pair of each learned id
    right: np.ndarray
    counts: np.ndarray  # int64[V]: result, its count when it was merged
    documents: np.ndarray  # int64[V]: result, documents that held it
    merged: np.ndarray  # int64[V]: result, occurrences replaced


class Task(NamedTuple):
    """A round, as the driver tells it to the shards: what to merge, and then which new pairs are frequent."""

    n: np.ndarray  # int64[1]: merges
    first_id: np.ndarray  # int64[1]
    left: np.ndarray  # int32[R]
    right: np.ndarray
    slot: np.ndarray  # int64[R]
    counts: np.ndarray
    new_token: np.ndarray  # int32: neighbours with which merge i created a frequent pair, left ones first
    new_slot: np.ndarray  # int32
    new_count: np.ndarray  # int64
    new_end: np.ndarray  # int64[2R + 1]: laid out as Shard.delta_end
    twin_slot: np.ndarray  # int64[R]: slot of (new, new), or -1


# Helpers take bare arrays: a field taken from a tuple inside a loop costs two atomic reference counts, and a helper that takes
# a whole `Driver` and uses five of its fields ~150 ns a call, inlined or not.


@helper
def _lower(state, entries, slots, free, pair, count):
    """Take `count` off a pair; below the threshold it leaves the table and its slot is free. O(1)."""
    i = find(entries, pair)
    if i >= 0:
        rest = entries[2 * i + 1] - count
        if rest >= state[THRESHOLD]:
            entries[2 * i + 1] = rest
        else:
            free[state[N_FREE]] = slots[i]
            state[N_FREE] += 1
            state[N_PAIRS] -= 1
            if rest >= state[MIN_COUNT]:
                state[BELOW] += 1
            remove(entries, slots, i)


@helper
def _create(state, entries, slots, free, heap_counts, heap_ties, heap_pairs, pair, count):
    """Give a new pair a slot if it is frequent enough. Returns the slot or -1. O(log heap)."""
    if count < state[THRESHOLD]:
        if count >= state[MIN_COUNT]:
            state[BELOW] += 1
        return np.int64(-1)
    if state[N_FREE] > 0:
        state[N_FREE] -= 1
        slot = np.int64(free[state[N_FREE]])
    else:
        slot = state[N_SLOTS]
        state[N_SLOTS] += 1
    put(entries, slots, pair, count, np.int32(slot))
    state[N_PAIRS] += 1
    # the tie key is not known yet: 0 ranks first, and is made exact if the pair ever comes to the root
    order = ~pair if state[TIES] == FEWEST_DOCUMENTS else pair
    state[HEAP_SIZE] = heap_push(heap_counts, heap_ties, heap_pairs, state[HEAP_SIZE], count, np.int64(0), order)
    return slot


@kernel
def seed(state, entries, slots, free, heap_counts, heap_ties, heap_pairs, pairs, counts, new_slots):
    """Create the pairs of a new epoch; `new_slots` int32 gets their slots. O(pairs log pairs)."""
    for i in range(pairs.size):
        new_slots[i] = _create(state, entries, slots, free, heap_counts, heap_ties, heap_pairs, pairs[i], counts[i])


@section
def has_room(driver, need, n_slots):
    """Whether table, heap and slots can take `need` more pairs. O(1)."""
    state = driver.state
    return (
        2 * (state[N_PAIRS] + need) <= driver.slots.size
        and state[HEAP_SIZE] + need + driver.candidates.shape[0] <= driver.heap_counts.size
        and state[N_SLOTS] + need <= n_slots
    )


@section
def account(driver, task, shard):
    """Carry the counts of a merged round: pairs that lost occurrences, pairs that appeared. O(distinct neighbours).

    Merging x a b y into x z y takes one from (x, a) and (b, y) and gives one to (x, z) and (z, y). Where occurrences touch,
    a b a b -> z z, the pair (b, a) between them was counted as right neighbour only, and (z, z) appears instead.
    """
    state, entries, slots, free = driver.state, driver.entries, driver.slots, driver.free
    heap_counts, heap_ties, heap_pairs = driver.heap_counts, driver.heap_ties, driver.heap_pairs
    delta_token, delta_count, delta_end = shard.delta_token, shard.delta_count, shard.delta_end
    new_token, new_slot, new_count, new_end = task.new_token, task.new_slot, task.new_count, task.new_end
    mask = slots.size - 1
    n_new = np.int64(0)
    new_end[0] = 0
    for i in range(task.n[0]):
        new = state[NEXT_ID]
        a = np.int64(task.left[i])
        b = np.int64(task.right[i])
        twins = shard.merged_twins[i]
        driver.left[new] = a
        driver.right[new] = b
        driver.counts[new] = task.counts[i]
        driver.documents[new] = shard.merged_documents[i]
        driver.merged[new] = shard.merged[i]
        free[state[N_FREE]] = task.slot[i]
        state[N_FREE] += 1
        for side in range(2):
            end = delta_end[2 * i + 1 + side]
            for j in range(delta_end[2 * i + side], end):
                if j + 8 < end:
                    ahead = np.int64(delta_token[j + 8])
                    prefetch(entries, 2 * home(pair_of(b, ahead) if side else pair_of(ahead, a), mask))
                x = np.int64(delta_token[j])
                count = np.int64(delta_count[j])
                _lower(state, entries, slots, free, pair_of(b, x) if side else pair_of(x, a), count)
                if side and x == a:
                    count -= twins
                pair = pair_of(new, x) if side else pair_of(x, new)
                slot = _create(state, entries, slots, free, heap_counts, heap_ties, heap_pairs, pair, count)
                if slot >= 0:
                    new_token[n_new] = x
                    new_slot[n_new] = slot
                    new_count[n_new] = count
                    n_new += 1
            new_end[2 * i + 1 + side] = n_new
        pair = pair_of(new, new)
        task.twin_slot[i] = _create(state, entries, slots, free, heap_counts, heap_ties, heap_pairs, pair, twins)
        state[NEXT_ID] += 1
