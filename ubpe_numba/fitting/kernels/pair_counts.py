"""The driver of a fit: which pairs are live, and what a round of merges does to their counts.

The driver never looks at the text. Its pairs are dealt, by hash, to as many parts as there are threads: each part owns a table
(pair -> count, slot), a heap and a stack of free slots, and accounts for its own pairs while the others do for theirs. Only
pairs with count >= threshold are in a table; rarer ones can neither win nor, since no count rises after the round that creates a
pair, come back above it. When too few are left the threshold falls and `fit.py` counts again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ubpe_numba.fitting.kernels.heap import heap_push
from ubpe_numba.fitting.kernels.text_cells import extended
from ubpe_numba.runtime.jit import helper, kernel
from ubpe_numba.runtime.tables.pairs import EMPTY, hash_of, put, rehash

# rules of a tie between equal counts
SMALLEST, FIRST_SEEN, FEWEST_DOCUMENTS = 0, 1, 2

# `state`, read by all parts
(
    NEXT_ID,  # the id that the next merge creates
    LIMIT,  # merging stops when NEXT_ID reaches it
    WHOLE_ROUNDS,  # 1: the round that reaches LIMIT is finished all the same
    THRESHOLD,
    MIN_COUNT,
    LONGEST,  # a token of more symbols is never made
    TIES,
    CANDIDATES,  # per round; 1: one merge a round, or what amounts to that
    BATCH,  # a batch of them is closed at so many occurrences
    ROUND,
    PENDING,  # merges of the round that stand in the task behind those of the batch
    STAGE,
    VISITED,  # occurrences looked at, stale ones included: the work done
    NEED,  # room that a round asks for
    ROUND_START,  # the first id of the last round
    ARENA_FULL,  # an arena may be too short for the slices of the pairs that the round created
    N_STATE,
) = range(17)
# columns of `part`
(
    BELOW,  # pairs, not too long, that may lie in [MIN_COUNT, THRESHOLD): an upper bound, 0 only if there are none
    HEAP_SIZE,
    N_PAIRS,  # in the table
    N_FREE,  # slots to be used again
    N_SLOTS,  # slots ever given out
    ROOT,  # index in the table of the root of the heap if that is exact; -1 if the heap is empty, -2 if not known
    N_PART,
) = (0, 1, 2, 3, 4, 5, 16)
# columns of `learned`
LEFT, RIGHT, COUNT, HOLDERS, REPLACED, N_LEARNED = 0, 1, 2, 3, 4, 5


class Driver(NamedTuple):
    """The arrays of the driver; P parts, V tokens, C candidates."""

    state: np.ndarray  # int64[N_STATE]
    part: np.ndarray  # int64[P, N_PART]: a cache line or two each
    entries: np.ndarray  # int64[P, 2 * capacity]: the tables, see pairtable.py
    slots: np.ndarray  # int32[P, capacity]: of part p, the numbers p, P + p, 2P + p ...
    free: np.ndarray  # int32[P, slots]: stacks of free slots
    heap_counts: np.ndarray  # int64[P, H], see heap.py
    heap_ties: np.ndarray
    heap_pairs: np.ndarray
    sums: np.ndarray  # int64[P, V]: counts of a merge's neighbours over all shards, zero between uses
    seen: np.ndarray  # int32[P, V]: which they are
    used: np.ndarray  # int64[2, V]: the last round that took a pair with this token as left part, as right part
    candidates: np.ndarray  # int64[C, 3]: count, tie, heap pair
    lengths: np.ndarray  # int64[V]: symbols of each token
    learned: np.ndarray  # int64[V, N_LEARNED]: result, a row per learned id: its pair, count, documents and replacements


class Task(NamedTuple):
    """A batch, as the driver tells it to the shards: what to merge, and which pairs of the batch before are frequent."""

    n: np.ndarray  # int64[1]: merges
    first_id: np.ndarray  # int64[1]
    left: np.ndarray  # int32[R]
    right: np.ndarray
    slot: np.ndarray  # int64[R]
    counts: np.ndarray
    width: np.ndarray  # int32[V]: cells of a token in the text as it is laid out now
    filled: np.ndarray  # int64[2]: merges of the batch before, 0 once their slices are written; their first id
    filled_left: np.ndarray  # int32[R]
    new_token: np.ndarray  # int32[P, M]: neighbours with which merge i created a frequent pair of part p, left ones first
    new_slot: np.ndarray  # int32[P, M]
    new_end: np.ndarray  # int64[P, 2R + 1]: laid out as Shards.delta_end
    twin_slot: np.ndarray  # int64[R]: slot of (new, new), or -1


def allocate(parts: int, tokens: int, slots: int, merges: int) -> tuple[Driver, Task]:
    """The arrays of a driver and its task, small; `grown` makes longer ones when a round asks for it."""
    i32, i64 = np.int32, np.int64
    driver = Driver(
        state=np.zeros(N_STATE, i64),
        part=np.zeros((parts, N_PART), i64),
        entries=np.full((parts, 4 * slots), EMPTY, i64),
        slots=np.empty((parts, 2 * slots), i32),
        free=np.zeros((parts, slots // parts), i32),
        heap_counts=np.zeros((parts, slots), i64),
        heap_ties=np.zeros((parts, slots), i64),
        heap_pairs=np.zeros((parts, slots), i64),
        sums=np.zeros((parts, tokens), i64),
        seen=np.zeros((parts, tokens), i32),
        used=np.zeros((2, tokens), i64),
        candidates=np.zeros((merges, 3), i64),
        lengths=np.zeros(tokens, i64),
        learned=np.zeros((tokens, N_LEARNED), i64),
    )
    task = Task(
        n=np.zeros(1, i64),
        first_id=np.zeros(1, i64),
        left=np.zeros(merges, i32),
        right=np.zeros(merges, i32),
        slot=np.zeros(merges, i64),
        counts=np.zeros(merges, i64),
        width=np.ones(tokens, i32),
        filled=np.zeros(2, i64),
        filled_left=np.zeros(merges, i32),
        new_token=np.empty((parts, 1 << 12), i32),
        new_slot=np.empty((parts, 1 << 12), i32),
        new_end=np.zeros((parts, 2 * merges + 1), i64),
        twin_slot=np.zeros(merges, i64),
    )
    return driver, task


def grown(driver: Driver, task: Task, need: int, listed: int) -> tuple[Driver, Task]:
    """Both with room for `need` more pairs in each part, `listed` new ones of a round, and the tokens of the next round.

    Arrays that are too short become at least twice as long as they must be.
    """
    new: dict[str, np.ndarray] = {}
    more: dict[str, np.ndarray] = {}
    n_parts = len(driver.part)
    pairs, heap, slots = (int(n) + need for n in driver.part[:, [N_PAIRS, HEAP_SIZE, N_SLOTS]].max(axis=0))
    if 2 * pairs > driver.slots.shape[1]:
        capacity = 1 << (3 * pairs).bit_length()
        new["entries"] = np.full((n_parts, 2 * capacity), EMPTY, np.int64)
        new["slots"] = np.empty((n_parts, capacity), np.int32)
        for p in range(n_parts):
            rehash(driver.entries[p], driver.slots[p], new["entries"][p], new["slots"][p])
    if heap > driver.heap_counts.shape[1]:
        new |= extended(driver, ("heap_counts", "heap_ties", "heap_pairs"), 2 * heap)
    if slots > driver.free.shape[1]:
        new |= extended(driver, ("free",), 2 * slots)
    tokens = int(driver.state[NEXT_ID]) + task.left.size
    if tokens > len(driver.learned):
        new |= extended(driver, ("sums", "seen", "used", "lengths"), 2 * tokens)
        new["learned"] = np.zeros((2 * tokens, N_LEARNED), np.int64)
        new["learned"][: len(driver.learned)] = driver.learned
        more |= extended(task, ("width",), 2 * tokens)
    if listed > task.new_token.shape[1]:
        more |= extended(task, ("new_token", "new_slot"), 2 * listed)
    return driver._replace(**new), task._replace(**more)


@helper
def part_of(pair, n_parts):
    """The part that owns a pair: by the top bits of its hash, which the place in the table does not depend on. O(1)."""
    return np.int64(((hash_of(pair) >> np.uint64(48)) * np.uint64(n_parts)) >> np.uint64(16))


@helper
def create(
    part, p, threshold, min_count, ties, n_parts, entries, slots, free, heap_counts, heap_ties, heap_pairs, pair, count, allowed
):
    """Enter a new pair if it is frequent enough; one that may be merged gets a slot. Returns the slot or -1. O(log heap)."""
    slot = np.int64(-1)
    if count < threshold:
        part[BELOW] += allowed and count >= min_count
        return slot
    if allowed:
        if part[N_FREE] > 0:
            part[N_FREE] -= 1
            slot = np.int64(free[part[N_FREE]])
        else:
            slot = part[N_SLOTS] * n_parts + p
            part[N_SLOTS] += 1
        # the tie key is not known yet: 0 ranks first, and is made exact if the pair ever comes to the root
        order = ~pair if ties == FEWEST_DOCUMENTS else pair
        part[HEAP_SIZE] = heap_push(heap_counts, heap_ties, heap_pairs, part[HEAP_SIZE], count, np.int64(0), order)
    put(entries, slots, pair, count, np.int32(slot))
    part[N_PAIRS] += 1
    return slot


@kernel
def seed(state, part, entries, slots, free, heap_counts, heap_ties, heap_pairs, lengths, pairs, counts, new_slots):
    """Create the pairs of a new epoch in their parts; `new_slots` int32 gets their slots, -1 for those that are too long.

    pairs, counts int64. Returns 0, or, if there is no room for them, how many pairs there are in a part. O(pairs log pairs).
    """
    threshold, min_count, ties, longest = state[THRESHOLD], state[MIN_COUNT], state[TIES], state[LONGEST]
    n_parts = part.shape[0]
    for p in range(n_parts):
        n = np.int64(0)
        for i in range(pairs.size):
            n += counts[i] >= threshold and (n_parts == 1 or part_of(pairs[i], n_parts) == p)
        if 2 * n > slots.shape[1] or n > heap_counts.shape[1] or n > free.shape[1]:
            return n
    for i in range(pairs.size):
        p = np.int64(0)
        if n_parts > 1:
            p = part_of(pairs[i], n_parts)
        allowed = lengths[pairs[i] >> 32] + lengths[pairs[i] & 0xFFFFFFFF] <= longest
        new_slots[i] = create(
            part[p], p, threshold, min_count, ties, n_parts, entries[p], slots[p], free[p], heap_counts[p], heap_ties[p],
            heap_pairs[p], pairs[i], counts[i], allowed,
        )  # fmt: skip
    return np.int64(0)
