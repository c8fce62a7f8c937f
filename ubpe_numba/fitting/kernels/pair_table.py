"""The driver's tables of a fit: which pairs are live, their counts, and how a batch of merges changes them.

The driver never reads the text. Its pairs are dealt, by hash, to as many *parts* as there are threads: each part owns a table
(pair -> count, slot), a heap and a stack of free slots, and updates its own pairs while the others update theirs. With two parts,
and (1, 2) in part 0:

    part[0]     entries   [ . . . (1, 2) 7 . . . ]     hash table of pairs and counts, see runtime/tables/pairs.py
                slots     [ . . .   4      . . . ]     of the same entry: where a shard finds its slice; -1 if it is too long
                heap      [ (7, (1, 2)), ... ]         pairs that may be merged, largest count first
                free      [ 0, 6 ]                     slots 2 * i + 0 of pairs that are gone, to be used again
    part[1]     entries, slots, heap, free             of all other pairs; its slots are 2 * i + 1

Only pairs with count >= threshold are in a table. A rarer one cannot be chosen, and since no count rises after the round that
creates a pair, it cannot come back above the threshold. When too few are left the threshold falls, and another epoch counts again
(fit.py).

The driver describes a batch to the shards in a `Task`: its merges, and which new pairs of the batch before are frequent:

    left, right, slot     1 2 4                        merge (1, 2), whose occurrences are listed in slot 4
    batch                 n = 1, first_id = 9          it makes token 9
    new_token, new_slot   3 8 | 5 10                   of part p, after the merge: (3, 9) has slot 8, (9, 5) has slot 10
    new_end               0 1   2                      of merge i: left neighbours end at 2i + 1, right ones at 2i + 2

A heap is an array of `ENTRY` records: the largest count first, then the smallest tie key, then the smallest pair. The caller
keeps its size. Entry i is above entries 2i + 1 and 2i + 2:

    index    0          1          2          3
    count    9          7          9          7         0 before 2, as its pair is smaller
    pair     (1, 2)     (0, 5)     (3, 4)     (0, 6)

Entries are lazy: a count in the heap may be too large (counts only fall), and is corrected when the entry reaches the root.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ubpe_numba.runtime.compiler import helper, section
from ubpe_numba.runtime.machine.intrinsics import prefetch
from ubpe_numba.runtime.tables.pairs import find, hash_of, home, pair_of, put, remove

# rules of a tie between equal counts
SMALLEST, FIRST_SEEN, FEWEST_DOCUMENTS = 0, 1, 2
# the root of a heap if it is not an index
NO_PAIR, NOT_KNOWN = -1, -2
#: Up to this many candidates a round compares each with all that are kept (choose.py): about 2,000 comparisons, the size of the
#: smallest hash table.
FEW = 64

_I64 = np.int64
#: State of the driver, read by all parts.
STATE = np.dtype(
    [
        ("next_id", _I64),  # the id that the next merge creates
        ("limit", _I64),  # merging stops when next_id reaches it
        ("whole_rounds", _I64),  # 1: the round that reaches the limit is finished all the same
        ("threshold", _I64),
        ("min_count", _I64),
        ("longest", _I64),  # a token of more symbols is never made
        ("frame", _I64),  # symbols; a token lies within a frame, or is of whole ones; 0 without frames
        ("ties", _I64),
        ("candidates", _I64),  # per round; 1: one merge a round, or what amounts to that
        ("batch", _I64),  # a batch is closed at so many occurrences
        ("round", _I64),
        ("pending", _I64),  # merges of the round in the task after those of the batch
        ("stage", _I64),
        ("visited", _I64),  # occurrences looked at, stale ones included: the work done
        ("need", _I64),  # room that a round asks for
        ("round_start", _I64),  # the first id of the last round
        ("elsewhere", _I64),  # 1: the shards are not in this process
        ("arena_full", _I64),  # an arena may be too short for the slices of the pairs that the batch created
    ]
)
#: A pair that may be merged.
ENTRY = np.dtype(
    [
        ("count", _I64),
        ("tie", _I64),  # smaller ones first among equal counts
        ("pair", _I64),  # smaller ones first among equal ties; complemented where the larger pair is to be first
    ]
)
#: Of a token: the count of its most frequent border pair with kept pairs, and the first listed pair, -1 without one.
CONFLICT = np.dtype(
    [
        ("left", _I64),  # (r1, token), which a candidate that begins with it would make
        ("right", _I64),  # (token, l1), which one that ends with it would make
        ("first_left", _I64),  # of those with the token as left part
        ("first_right", _I64),  # as right part
    ]
)
#: Of pair p * capacity + i, at index i of table p: the next listed one with the same left part, and with the same right part.
LISTED = np.dtype([("left", _I64), ("right", _I64)])
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
#: Result of a fit, for each id.
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
    listed: np.ndarray | None  # LISTED[P * capacity], of few candidates [0], of one None
    lengths: np.ndarray  # int64[V]: symbols of each token
    mirror: np.ndarray | None  # int32[V]: the mirror of each token, where documents count together with their mirrors
    learned: np.ndarray  # LEARNED[V]: the result


class Task(NamedTuple):
    """A batch, as the driver describes it to the shards; R merges in the largest round, P parts, room for M new pairs."""

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


@helper
def _before(heap, i, count, tie, pair):
    """Whether entry `i` ranks before (count, tie, pair). O(1)."""
    if heap[i].count != count:
        return heap[i].count > count
    if heap[i].tie != tie:
        return heap[i].tie < tie
    return heap[i].pair < pair


@helper
def _write(heap, i, count, tie, pair):
    heap[i].count = count
    heap[i].tie = tie
    heap[i].pair = pair


@helper
def heap_push(heap, n, count, tie, pair):
    """Add an entry to a heap of `n`; returns the new size. O(log n).

    A count of 8 pushed onto the heap above goes to index 4, under 7, and changes places with it.
    """
    i = n
    while i > 0:
        parent = (i - 1) >> 1
        if _before(heap, parent, count, tie, pair):
            break
        _write(heap, i, heap[parent].count, heap[parent].tie, heap[parent].pair)
        i = parent
    _write(heap, i, count, tie, pair)
    return n + 1


@helper
def heap_sink(heap, n, i, count, tie, pair):
    """Write an entry at `i` or below, where it belongs. O(log n)."""
    while True:
        child = 2 * i + 1
        if child >= n:
            break
        if child + 1 < n and _before(heap, child + 1, heap[child].count, heap[child].tie, heap[child].pair):
            child += 1
        if not _before(heap, child, count, tie, pair):
            break
        _write(heap, i, heap[child].count, heap[child].tie, heap[child].pair)
        i = child
    _write(heap, i, count, tie, pair)


@helper
def heap_pop(heap, n):
    """Drop the root of a heap of `n`; returns the new size. O(log n)."""
    n -= 1
    if n > 0:
        heap_sink(heap, n, 0, heap[n].count, heap[n].tie, heap[n].pair)
    return n


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
    if driver.mirror is not None:
        need *= 2
    driver.state[0].need = need
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


@helper
def _twins(merged, weighted, borders, i):
    """How many occurrences of merge i follow another one directly, by weight. O(shards)."""
    n = np.int64(0)
    if borders is not None:
        n += borders.twins[i]
    for k in range(merged.shape[0]):
        if weighted is None:
            n += merged[k, i].twins
        else:
            n += weighted.merged[k, i].twins
    return n


@section
def account(driver, task, shards, weighted, borders, mirror, p):
    """Carry the counts of a merged batch for the pairs of part p. O(distinct neighbours).

    Merging x a b y into x z y takes one from (x, a) and (b, y) and gives one to (x, z) and (z, y). Where occurrences touch,
    a b a b -> z z, the pair (b, a) between them was counted as right neighbour only, and (z, z) appears instead. In 1 2 1 2 3,
    with (1, 2) -> 9: left neighbours none, right ones 1 and 3 once each, one twin. (2, 1) and (2, 3) lose one each; (9, 1) gets
    1 - 1 = 0, (9, 3) and (9, 9) get one each.

    Every part adds up the neighbours of all shards, which costs a tenth of the look-ups that it is spared; the first one also
    writes down what was learned, and whether an arena may be too short for the slices of the new pairs.

    With a `mirror` the merges of a pair and of its mirror follow one another, and a left neighbour x of the one counts as a
    right neighbour mirror[x] of the other, so that both have the counts that the texts and their mirrors would give. Where the
    two touch, z and its mirror are neighbours: that pair is its own mirror, counts twice, and is created with the second merge.
    There are no borders then.

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
        twins = _twins(merged, weighted, borders, i)
        other, turns, other_twins = new, 1, np.int64(0)
        if mirror is not None:
            other, turns = np.int64(mirror[new]), 2
            other_twins = _twins(merged, weighted, borders, other - task.batch[0].first_id)
        for side in range(2):
            n = 0
            touching = np.int64(0)
            for turn in range(turns):
                at = 2 * (other - task.batch[0].first_id) + 1 - side if turn else 2 * i + side
                for k in range(n_shards):
                    first = base[k].cells
                    for j in range(first + delta_end[k, at], first + delta_end[k, at + 1]):
                        x = delta[2 * j]
                        gain = np.int64(delta[2 * j + 1])
                        if weighted is not None:
                            gain = weighted.delta[j]
                        if mirror is not None:
                            if turn:
                                x = mirror[x]
                            if x == other and other != new:
                                touching += gain
                                continue
                        if sums[x] == 0:
                            seen[n] = x
                            n += 1
                        sums[x] += gain
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
                if side and lengths[new] == state.frame:
                    pass  # a frame ended there: it was no pair
                elif borders is None or part_of(pair, n_parts) == p:
                    _lower(state, part, entries, slots, free, pair, count)
                if side and x == a:
                    count -= twins
                if mirror is not None:
                    if not side and x == b:
                        count -= other_twins
                    if x == (mirror[b] if side else mirror[a]):
                        count -= touching
                pair = pair_of(new, x) if side else pair_of(x, new)
                if state.frame > 0 and (lengths[x] % state.frame == 0) != (lengths[new] % state.frame == 0):
                    continue  # a part of a frame beside a whole one is no pair
                if borders is None or part_of(pair, n_parts) == p:
                    allowed = lengths[x] + lengths[new] <= state.longest
                    slot = create(state, part, p, n_parts, entries, slots, free, heap, pair, count, allowed)
                    if slot >= 0:
                        new_token[n_new] = x
                        new_slot[n_new] = slot
                        n_new += 1
            if mirror is not None and other < new:
                pair = pair_of(new, other) if side else pair_of(other, new)
                if touching > 0:
                    allowed = 2 * lengths[new] <= state.longest
                    slot = create(state, part, p, n_parts, entries, slots, free, heap, pair, 2 * touching, allowed)
                    if slot >= 0:
                        new_token[n_new] = other
                        new_slot[n_new] = slot
                        n_new += 1
            new_end[2 * i + 1 + side] = n_new
        pair = pair_of(new, new)
        if borders is None or part_of(pair, n_parts) == p:
            allowed = 2 * lengths[new] <= state.longest
            twins += other_twins
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
