"""The driver of a fit: which pairs are live, and what a batch of merges does to their counts.

The driver never looks at the text. Its pairs are dealt, by hash, to as many *parts* as there are threads: each part owns a table
(pair -> count, slot), a heap and a stack of free slots, and accounts for its own pairs while the others do for theirs. With two
parts, and (1, 2) in part 0:

    part[0]     entries   [ . . . (1, 2) 7 . . . ]     hash table of pairs and counts, see runtime/tables/pairs.py
                slots     [ . . .   4      . . . ]     of the same entry: where a shard finds its slice; -1 if it is too long
                heap      [ (7, (1, 2)), ... ]         pairs that may be merged, largest count first, see heap.py
                free      [ 0, 6 ]                     slots 2 * i + 0 of pairs that are gone, to be used again
    part[1]     entries, slots, heap, free             of all other pairs; its slots are 2 * i + 1

Only pairs with count >= threshold are in a table. A rarer one cannot be chosen, and since no count rises after the round that
creates a pair, it cannot come back above the threshold. When too few are left the threshold falls, and another epoch counts again
(`loop.py`).

What the driver tells the shards is a `Task`: the merges of a batch, and which new pairs of the batch before are frequent:

    left, right, slot     1 2 4                        merge (1, 2), whose occurrences are listed in slot 4
    batch                 n = 1, first_id = 9          it makes token 9
    new_token, new_slot   3 8 | 5 10                   of part p, after the merge: (3, 9) has slot 8, (9, 5) has slot 10
    new_end               0 1   2                      of merge i: left neighbours end at 2i + 1, right ones at 2i + 2
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ubpe_numba.fitting.kernels.conflicts import CONFLICT, FEW, LISTED
from ubpe_numba.fitting.kernels.heap import ENTRY, heap_push
from ubpe_numba.fitting.kernels.text_cells import extended
from ubpe_numba.runtime.compiler import helper, kernel
from ubpe_numba.runtime.tables.pairs import EMPTY, hash_of, put, rehash

# rules of a tie between equal counts
SMALLEST, FIRST_SEEN, FEWEST_DOCUMENTS = 0, 1, 2
# the root of a heap if it is not an index
NO_PAIR, NOT_KNOWN = -1, -2

_I64 = np.int64
#: What all parts read.
STATE = np.dtype(
    [
        ("next_id", _I64),  # the id that the next merge creates
        ("limit", _I64),  # merging stops when next_id reaches it
        ("whole_rounds", _I64),  # 1: the round that reaches the limit is finished all the same
        ("threshold", _I64),
        ("min_count", _I64),
        ("longest", _I64),  # a token of more symbols is never made
        ("ties", _I64),
        ("candidates", _I64),  # per round; 1: one merge a round, or what amounts to that
        ("batch", _I64),  # a batch is closed at so many occurrences
        ("round", _I64),
        ("pending", _I64),  # merges of the round that stand in the task behind those of the batch
        ("stage", _I64),
        ("visited", _I64),  # occurrences looked at, stale ones included: the work done
        ("need", _I64),  # room that a round asks for
        ("round_start", _I64),  # the first id of the last round
        ("elsewhere", _I64),  # 1: the shards are not in this process
        ("arena_full", _I64),  # an arena may be too short for the slices of the pairs that the batch created
    ]
)
#: The state of a part; two cache lines each.
PART = np.dtype(
    {
        "names": [
            "below",  # pairs, not too long, that may lie in [min_count, threshold): an upper bound, 0 only if there are none
            "heap_size",
            "n_pairs",  # in the table
            "n_free",  # slots to be used again
            "n_slots",  # slots ever given out
            "root",  # index in the table of the root of the heap if its count is exact, else NO_PAIR or NOT_KNOWN
        ],
        "formats": [_I64] * 6,
        "itemsize": 128,
    },
    align=True,
)
#: What a fit learned, of each id.
LEARNED = np.dtype([("left", _I64), ("right", _I64), ("count", _I64), ("documents", _I64), ("replaced", _I64)])
#: The batch that a task holds, and the one before it.
BATCH = np.dtype(
    [
        ("n", _I64),  # merges
        ("first_id", _I64),  # the id that the first of them makes
        ("filled", _I64),  # merges of the batch before, 0 once the slices of its pairs are written
        ("filled_first", _I64),  # the first id of that batch
    ]
)


class Driver(NamedTuple):
    """The arrays of the driver; P parts, V tokens, C candidates."""

    state: np.ndarray  # STATE[1]
    part: np.ndarray  # PART[P]
    entries: np.ndarray  # int64[P, 2 * capacity]: the tables
    slots: np.ndarray  # int32[P, capacity]: of part p, the numbers p, P + p, 2P + p ...
    free: np.ndarray  # int32[P, slots]: stacks of free slots
    heap: np.ndarray  # ENTRY[P, H]
    sums: np.ndarray  # int64[P, V]: counts of a merge's neighbours over all shards, zero between uses
    seen: np.ndarray  # int32[P, V]: which they are
    used: np.ndarray  # int64[2, V]: the last round that took a pair with this token as left part, as right part
    candidates: np.ndarray  # ENTRY[C]
    conflicts: np.ndarray  # CONFLICT[V], or of few candidates [0]
    listed: np.ndarray  # LISTED[P * capacity], or of few candidates [0]
    lengths: np.ndarray  # int64[V]: symbols of each token
    learned: np.ndarray  # LEARNED[V]: the result


class Task(NamedTuple):
    """A batch, as the driver tells it to the shards; R merges in the largest round, P parts, room for M new pairs."""

    batch: np.ndarray  # BATCH[1]
    left: np.ndarray  # int32[R]
    right: np.ndarray  # int32[R]
    slot: np.ndarray  # int64[R]
    counts: np.ndarray  # int64[R]
    width: np.ndarray  # int32[V]: cells of a token in the text as it is laid out now
    filled_left: np.ndarray  # int32[R]: left parts of the batch before
    new_token: np.ndarray  # int32[P, M]: neighbours with which merge i created a frequent pair of part p, left ones first
    new_slot: np.ndarray  # int32[P, M]
    new_end: np.ndarray  # int64[P, 2R + 1]: laid out as Shards.delta_end
    twin_slot: np.ndarray  # int64[R]: slot of (new, new), or -1


def allocate(parts: int, tokens: int, slots: int, merges: int, candidates: int) -> tuple[Driver, Task]:
    """The arrays of a driver and its task, small; `grown` makes longer ones when a round asks for it."""
    i32, i64 = np.int32, np.int64
    many = candidates > FEW
    driver = Driver(
        state=np.zeros(1, STATE),
        part=np.zeros(parts, PART),
        entries=np.full((parts, 4 * slots), EMPTY, i64),
        slots=np.empty((parts, 2 * slots), i32),
        free=np.zeros((parts, slots // parts), i32),
        heap=np.zeros((parts, slots), ENTRY),
        sums=np.zeros((parts, tokens), i64),
        seen=np.zeros((parts, tokens), i32),
        used=np.zeros((2, tokens), i64),
        candidates=np.zeros(merges, ENTRY),
        conflicts=np.zeros(tokens * many, CONFLICT),
        listed=np.zeros(2 * parts * slots * many, LISTED),
        lengths=np.zeros(tokens, i64),
        learned=np.zeros(tokens, LEARNED),
    )
    return driver, allocate_task(parts, tokens, merges)


def allocate_task(parts: int, tokens: int, merges: int) -> Task:
    """A task for batches of up to so many merges; `grown` makes longer arrays."""
    i32, i64 = np.int32, np.int64
    return Task(
        batch=np.zeros(1, BATCH),
        left=np.zeros(merges, i32),
        right=np.zeros(merges, i32),
        slot=np.zeros(merges, i64),
        counts=np.zeros(merges, i64),
        width=np.ones(tokens, i32),
        filled_left=np.zeros(merges, i32),
        new_token=np.empty((parts, 1 << 12), i32),
        new_slot=np.empty((parts, 1 << 12), i32),
        new_end=np.zeros((parts, 2 * merges + 1), i64),
        twin_slot=np.zeros(merges, i64),
    )


def grown(driver: Driver, task: Task, need: int, listed: int) -> tuple[Driver, Task]:
    """Both with room for `need` more pairs in each part, `listed` new ones of a round, and the tokens of the next round.

    Arrays that are too short become at least twice as long as they must be.
    """
    new: dict[str, np.ndarray] = {}
    more: dict[str, np.ndarray] = {}
    n_parts = len(driver.part)
    pairs, heap, slots = (int(driver.part[name].max()) + need for name in ("n_pairs", "heap_size", "n_slots"))
    if 2 * pairs > driver.slots.shape[1]:
        capacity = 1 << (3 * pairs).bit_length()
        new["entries"] = np.full((n_parts, 2 * capacity), EMPTY, np.int64)
        new["slots"] = np.empty((n_parts, capacity), np.int32)
        for p in range(n_parts):
            rehash(driver.entries[p], driver.slots[p], new["entries"][p], new["slots"][p])
        if driver.listed.size:
            new["listed"] = np.zeros(n_parts * capacity, LISTED)
    if heap > driver.heap.shape[1]:
        new |= extended(driver, ("heap",), 2 * heap)
    if slots > driver.free.shape[1]:
        new |= extended(driver, ("free",), 2 * slots)
    tokens = int(driver.state["next_id"][0]) + task.left.size
    if tokens > driver.learned.size:
        new |= extended(driver, ("sums", "seen", "used", "lengths", "learned"), 2 * tokens)
        if driver.conflicts.size:
            new["conflicts"] = np.zeros(2 * tokens, CONFLICT)
        more |= extended(task, ("width",), 2 * tokens)
    if listed > task.new_token.shape[1]:
        more |= extended(task, ("new_token", "new_slot"), 2 * listed)
    return driver._replace(**new), task._replace(**more)


@helper
def part_of(pair, n_parts):
    """The part that owns a pair: by the top bits of its hash, which the place in the table does not depend on. O(1)."""
    return np.int64(((hash_of(pair) >> np.uint64(48)) * np.uint64(n_parts)) >> np.uint64(16))


# Helpers take the rows of a part: a whole `Driver` would carry all of its arrays through every step of the compiler.


@helper
def create(state, part, p, n_parts, entries, slots, free, heap, pair, count, allowed):
    """Enter a new pair if it is frequent enough; one that is `allowed` to be merged gets a slot. O(log heap).

    Returns the slot, or -1. Threshold 5, least count 2, one part with a free slot 4: a pair with count 6 gets slot 4; one with
    count 3 is only counted in `below`.
    """
    slot = np.int64(-1)
    if count < state.threshold:
        part.below += allowed and count >= state.min_count
        return slot
    if allowed:
        if part.n_free > 0:
            part.n_free -= 1
            slot = np.int64(free[part.n_free])
        else:
            slot = part.n_slots * n_parts + p
            part.n_slots += 1
        # the tie key is not known yet: 0 ranks first, and is made exact if the pair ever comes to the root
        order = ~pair if state.ties == FEWEST_DOCUMENTS else pair
        part.heap_size = heap_push(heap, part.heap_size, count, np.int64(0), order)
    put(entries, slots, pair, count, np.int32(slot))
    part.n_pairs += 1
    return slot


@kernel
def seed(state, part, entries, slots, free, heap, lengths, pairs, counts, new_slots):
    """Create the pairs of a new epoch in their parts. O(pairs log pairs).

    The first seven arrays are those of `Driver`, the tables empty; pairs, counts int64[n]; new_slots int32[n] gets the slots, -1
    for pairs that are too rare or too long. Returns 0, or, if there is no room for them, how many pairs there are in a part, and
    nothing is changed. Pairs [(0, 1), (1, 2)] with counts [9, 4] at a threshold of 5: new_slots [0, -1].
    """
    n_parts = part.shape[0]
    for p in range(n_parts):
        n = np.int64(0)
        for i in range(pairs.size):
            n += counts[i] >= state[0].threshold and (n_parts == 1 or part_of(pairs[i], n_parts) == p)
        if 2 * n > slots.shape[1] or n > heap.shape[1] or n > free.shape[1]:
            return n
    for i in range(pairs.size):
        p = np.int64(0)
        if n_parts > 1:
            p = part_of(pairs[i], n_parts)
        allowed = lengths[pairs[i] >> 32] + lengths[pairs[i] & 0xFFFFFFFF] <= state[0].longest
        new_slots[i] = create(
            state[0], part[p], p, n_parts, entries[p], slots[p], free[p], heap[p], pairs[i], counts[i], allowed
        )  # fmt: skip
    return np.int64(0)
