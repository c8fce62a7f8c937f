"""The driver of a fit: which pairs are live, and what a round of merges does to their counts.

The driver never looks at the text. Its pairs are dealt, by hash, to as many parts as there are threads: each part owns a table
(pair -> count, slot), a heap and a stack of free slots, and accounts for its own pairs while the others do for theirs. Only
pairs with count >= threshold are in a table; rarer ones can neither win nor, since no count rises after the round that creates a
pair, come back above it. When too few are left the threshold falls and `fit.py` counts again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ubpe_numba._jit import helper, kernel, section
from ubpe_numba.kernels.heap import heap_push
from ubpe_numba.kernels.intrinsics import prefetch
from ubpe_numba.kernels.pairtable import EMPTY, find, hash_of, home, pair_of, put, remove
from ubpe_numba.kernels.shard import ARENA, ARENA_TOP, DOCUMENTS, OCCURRENCES, TWINS

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
    BATCH,  # then a batch is closed at so many occurrences
    ROUND,
    STAGE,
    VISITED,  # occurrences looked at, stale ones included: the work done
    NEED,  # room that a round asks for
    ROUND_START,  # the first id of the last round
    PARALLEL,  # rounds that threads shared
    ARENA_FULL,  # an arena may be too short for the slices of the pairs that the round created
    N_STATE,
) = range(17)
# columns of `part`
(
    BELOW,  # pairs that may lie in [MIN_COUNT, THRESHOLD): an upper bound, 0 only if there are none
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
    """A round, as the driver tells it to the shards: what to merge, and which pairs of the round before are frequent."""

    n: np.ndarray  # int64[1]: merges
    first_id: np.ndarray  # int64[1]
    left: np.ndarray  # int32[R]
    right: np.ndarray
    slot: np.ndarray  # int64[R]
    counts: np.ndarray
    width: np.ndarray  # int32[V]: cells of a token in the text as it is laid out now
    filled: np.ndarray  # int64[2]: merges of the round before, 0 once their slices are written; their first id
    filled_left: np.ndarray  # int32[R]
    new_token: np.ndarray  # int32[P, M]: neighbours with which merge i created a frequent pair of part p, left ones first
    new_slot: np.ndarray  # int32[P, M]
    new_end: np.ndarray  # int64[P, 2R + 1]: laid out as Shards.delta_end
    twin_slot: np.ndarray  # int64[R]: slot of (new, new), or -1


def allocate_task(tokens: int, merges: int, parts: int) -> Task:
    """The arrays of a task; those of new pairs are made longer when a round asks for it."""
    i32, i64 = np.int32, np.int64
    return Task(
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


def allocate_driver(parts: int, tokens: int, slots: int, candidates: int) -> Driver:
    """The arrays of a driver, small; `fit.py` makes longer ones when a round asks for it."""
    i32, i64 = np.int32, np.int64
    return Driver(
        state=np.zeros(N_STATE, i64),
        part=np.zeros((parts, N_PART), i64),
        entries=np.full((parts, 4 * slots), EMPTY, i64),
        slots=np.empty((parts, 2 * slots), i32),
        free=np.zeros((parts, slots // parts), i32),
        heap_counts=np.zeros((parts, slots + candidates), i64),
        heap_ties=np.zeros((parts, slots + candidates), i64),
        heap_pairs=np.zeros((parts, slots + candidates), i64),
        sums=np.zeros((parts, tokens), i64),
        seen=np.zeros((parts, tokens), i32),
        used=np.zeros((2, tokens), i64),
        candidates=np.zeros((candidates, 3), i64),
        lengths=np.zeros(tokens, i64),
        learned=np.zeros((tokens, N_LEARNED), i64),
    )


# Helpers take bare arrays: a whole `Driver` would carry all of its arrays through every step of the compiler.


@helper
def part_of(pair, n_parts):
    """The part that owns a pair: by the top bits of its hash, which the place in the table does not depend on. O(1)."""
    return np.int64(((hash_of(pair) >> np.uint64(48)) * np.uint64(n_parts)) >> np.uint64(16))


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
            part[N_PAIRS] -= 1
            if rest >= min_count:
                part[BELOW] += 1
            remove(entries, slots, i)


@helper
def _create(
    part, p, threshold, min_count, ties, n_parts, entries, slots, free, heap_counts, heap_ties, heap_pairs, pair, count, allowed
):
    """Enter a new pair if it is frequent enough; one that may be merged gets a slot. Returns the slot or -1. O(log heap)."""
    slot = np.int64(-1)
    if count < threshold:
        if count >= min_count:
            part[BELOW] += 1
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
def seed(state, part, p, n_parts, entries, slots, free, heap_counts, heap_ties, heap_pairs, lengths, pairs, counts, new_slots):
    """Create the pairs of part p in a new epoch; `new_slots` int32 gets their slots, -1 for those that are too long.

    The arrays of the driver are rows of part p. pairs, counts int64. O(pairs log pairs).
    """
    threshold, min_count, ties, longest = state[THRESHOLD], state[MIN_COUNT], state[TIES], state[LONGEST]
    for i in range(pairs.size):
        pair = pairs[i]
        if n_parts > 1 and part_of(pair, n_parts) != p:
            continue
        allowed = lengths[pair >> 32] + lengths[pair & 0xFFFFFFFF] <= longest
        new_slots[i] = _create(
            part, p, threshold, min_count, ties, n_parts, entries, slots, free, heap_counts, heap_ties, heap_pairs,
            pair, counts[i], allowed,
        )  # fmt: skip


@section
def has_room(driver, task, need, n_slots):
    """Whether tables, heaps, slots and the list of new pairs can take `need` more pairs in every part. O(P)."""
    parts = driver.part.shape[0]
    if need > task.new_token.shape[1]:
        return False
    for p in range(parts):
        part = driver.part[p]
        if (
            2 * (part[N_PAIRS] + need) > driver.slots.shape[1]
            or part[HEAP_SIZE] + need + driver.candidates.shape[0] > driver.heap_counts.shape[1]
            or (part[N_SLOTS] + need) * parts > n_slots
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
                    slot = _create(
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
            task.twin_slot[i] = _create(
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
