"""The driver of a fit: which pairs are live, and what a round of merges does to their counts.

The driver never looks at the text. Its pairs are dealt, by hash, to as many parts as there are threads: each part owns a table
(pair -> count, slot), a heap and a stack of free slots, and accounts for its own pairs while the others do for theirs. Only
pairs with count >= threshold are in a table; rarer ones can neither win nor, since no count rises after the round that creates a
pair, come back above it. When too few are left the threshold falls and `fit.py` counts again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ubpe_numba.runtime.jit import helper
from ubpe_numba.runtime.tables.pairs import EMPTY, hash_of

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
    PARALLEL,  # rounds that threads shared
    ARENA_FULL,  # an arena may be too short for the slices of the pairs that the round created
    N_STATE,
) = range(18)
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


@helper
def part_of(pair, n_parts):
    """The part that owns a pair: by the top bits of its hash, which the place in the table does not depend on. O(1)."""
    return np.int64(((hash_of(pair) >> np.uint64(48)) * np.uint64(n_parts)) >> np.uint64(16))
