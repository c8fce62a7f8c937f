"""The driver's tables of a fit: which pairs are live, their counts, and how a batch of merges changes them.

The driver never reads the text. Its pairs are shared, by hash, among *parts*, one per thread. Each part owns
a table (pair -> count, slot), a heap and a stack of free slots, and updates its own pairs while the others
update theirs. With two parts, and (1, 2) in part 0:

    part[0]     entries   [ . . . (1, 2) 7 . . . ]     hash table of pairs, counts (runtime/tables/pairs.py)
                slots     [ . . .   4      . . . ]     of this entry: the slice in a shard; -1 if too long
                heap      [ (7, (1, 2)), ... ]         pairs that may be merged, largest count first
                free      [ 0, 6 ]                     slots 2 * i + 0 of pairs that are gone, for reuse
    part[1]     entries, slots, heap, free             of all other pairs; its slots are 2 * i + 1

Only pairs with count >= threshold are in a table. A rarer one cannot be chosen, and since no count rises
after the round that creates a pair, it cannot come back above the threshold. When too few are left the
threshold falls, and another epoch counts again (fit.py).

Shards deal the neighbours of a large batch to the parts (`deal`), so that each part adds up its own only. A
small batch is worked on by one thread, in one pass for all parts: more passes would cost more than they
divide.

The driver describes a batch to the shards in a `Task`: its merges, and which new pairs of the batch before
are frequent:

    left, right, slot     1 2 4                        merge (1, 2), whose occurrences are listed in slot 4
    batch                 n = 1, first_id = 9          it makes token 9
    new_token, new_slot   3 8 | 5 10                   of part p, after the merge: slots of (3, 9), (9, 5)
    new_end               0 1   2                      of merge i: left neighbors end at 2i + 1, right 2i + 2

A heap is an array of `ENTRY` records: the largest count first, then the smallest tie key, then the smallest
pair. The caller keeps its size. Entry i is above entries 2i + 1 and 2i + 2:

    index    0          1          2          3
    count    9          7          9          7         0 before 2, as its pair is smaller
    pair     (1, 2)     (0, 5)     (3, 4)     (0, 6)

Entries are lazy: a count in the heap may be too large (counts only fall), and is corrected when the entry
reaches the root.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ubpe_numba.fitting.kernels.borders import repeated
from ubpe_numba.runtime.compiler import helper, section
from ubpe_numba.runtime.machine.intrinsics import prefetch
from ubpe_numba.runtime.tables.pairs import find, hash_of, home, pair_of, put, remove

# rules of a tie between equal counts
SMALLEST, FIRST_SEEN, FEWEST_DOCUMENTS = 0, 1, 2
# the root of a heap if it is not an index
NO_PAIR, NOT_KNOWN = -1, -2
#: Up to this many candidates a round compares each with all that are kept (choose.py): about 2,000
#: comparisons, the size of the smallest hash table.
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
        ("shared_above", _I64),  # threads share a batch of more visits
        ("elsewhere", _I64),  # 1: the shards are not in this process
    ]
)
#: A pair that may be merged.
ENTRY = np.dtype(
    [
        ("count", _I64),
        ("tie", _I64),  # smaller ones first among equal counts
        # smaller pairs first among equal ties; complemented if the larger pair is to be first
        ("pair", _I64),
    ]
)
#: Of a token: the count of its most frequent border pair with kept pairs, and the first listed pair, -1
#: without one.
CONFLICT = np.dtype(
    [
        ("left", _I64),  # (r1, token), which a candidate that begins with it would make
        ("right", _I64),  # (token, l1), which one that ends with it would make
        ("first_left", _I64),  # of those with the token as left part
        ("first_right", _I64),  # as right part
    ]
)
#: Of pair p * capacity + i, at index i of table p: the next listed one with the same left part, and with the
#: same right part.
LISTED = np.dtype([("left", _I64), ("right", _I64)])
#: The state of a part; two cache lines each.
PART = np.dtype(
    {
        "names": [
            # pairs, not too long, that may lie in [min_count, threshold): an upper bound, 0 only if there are
            # none
            "below",
            "heap_size",
            "n_pairs",  # in the table
            "n_free",  # slots to be used again
            "n_slots",  # slots ever given out
            # index in the table of the root of the heap if its count is exact, else NO_PAIR or NOT_KNOWN
            "root",
        ],
        "formats": [_I64] * 6,
        "itemsize": 128,
    },
    align=True,
)
#: Result of a fit, for each id.
LEARNED = np.dtype(
    [("left", _I64), ("right", _I64), ("count", _I64), ("documents", _I64), ("replaced", _I64)]
)
#: The batch that a task holds, and the batch before it.
BATCH = np.dtype(
    [
        ("n", _I64),  # merges
        ("first_id", _I64),  # the id that the first of them makes
        ("filled", _I64),  # merges of the batch before, 0 once the slices of its pairs are written
        ("filled_first", _I64),  # the first id of that batch
        ("more_lists", _I64),  # rows of its new pairs after the first
        ("shared", _I64),  # 1: threads share the pieces of the batch
        ("dealt", _I64),  # 1: shards deal their neighbours to parts
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
    read: np.ndarray  # int64[P, 2K]: how far the lists are read that shards have dealt
    # int64[2, V]: the last round that took a pair with this token as left part, as right part
    used: np.ndarray
    candidates: np.ndarray  # ENTRY[C]
    conflicts: np.ndarray  # CONFLICT[V], or of few candidates [0]
    listed: np.ndarray | None  # LISTED[P * capacity]; length 0 for few candidates, None for one
    lengths: np.ndarray  # int64[V]: symbols of each token
    # int32[V]: the mirror of each token, if documents count together with their mirrors
    mirror: np.ndarray | None
    learned: np.ndarray  # LEARNED[V]: the result


class Task(NamedTuple):
    """A batch, as the driver describes it to the shards.

    The largest round has R merges; there are P parts, and room for M new pairs.
    """

    batch: np.ndarray  # BATCH[1]
    left: np.ndarray  # int32[R]
    right: np.ndarray  # int32[R]
    slot: np.ndarray  # int64[R]
    counts: np.ndarray  # int64[R]
    width: np.ndarray  # int32[V]: cells of a token in the text as it is laid out now
    filled_left: np.ndarray  # int32[R]: left parts of the batch before
    # int32[P, M]: neighbours with which merge i created a frequent pair of part p, left ones first
    new_token: np.ndarray
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
    """Write an entry at `i`, or below in its proper place. O(log n)."""
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
    """The part that owns a pair, by the top bits of its hash. O(1).

    The place in the table does not depend on these bits.
    """
    return np.int64(((hash_of(pair) >> np.uint64(48)) * np.uint64(n_parts)) >> np.uint64(16))


@helper
def owner_of(borders, pair, n_parts):
    """The part that owns a pair; of a single shard there is one, and the compiler leaves the hash out.

    O(1).
    """
    return np.int64(0) if borders is None else part_of(pair, n_parts)


# Helpers take the rows of a part: a whole `Driver` would carry all of its arrays through every step of the
# compiler.


@helper
def create(state, part, p, n_parts, entries, slots, free, heap, pair, count, allowed):
    """Enter a new pair if it is frequent enough; one that is `allowed` to be merged gets a slot. O(log heap).

    Returns the slot, or -1. Threshold 5, least count 2, one part with a free slot 4: a pair with count 6 gets
    slot 4; one with count 3 is only counted in `below`.
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
def has_room(driver, task, shards, borders):
    """Whether there is room for the pairs that a batch may create; a part needs `state.need`.

    O(K + P), or O(K * P).
    """
    batch, n_parts = task.batch[0], driver.part.shape[0]
    need = np.int64(0)
    for p in range(n_parts, 2 * n_parts if borders is not None and batch.dealt else n_parts + 1):
        of_part = batch.n
        for k in range(shards.delta_end.shape[0]):
            if borders is not None and batch.dealt:
                of_part += shards.dealt_end[k, p] - shards.dealt_end[k, p - 1]
            else:
                of_part += shards.delta_end[k, 2 * batch.n]
        need = max(need, of_part)
    if borders is not None:
        need += borders.end[2 * batch.n]
    if driver.mirror is not None:
        need *= 2
    driver.state[0].need = need
    fits = need <= task.new_token.shape[1]
    for p in range(n_parts):
        part = driver.part[p]
        fits &= 2 * (part.n_pairs + need) <= driver.slots.shape[1]
        fits &= part.heap_size + need <= driver.heap.shape[1] and part.n_slots + need <= driver.free.shape[1]
    return fits


@section
def deal(shards, task, n_parts, k):
    """Deal the neighbours of a batch in shard k to the parts that own the pairs which go and come.

    O(neighbours + P).

    Each neighbor is dealt twice, as its index in `delta`. List p of 2 * P is for the part of the pair that
    loses, list P + p for the pair that gains. `dealt_end[k, p]` is the end of list p and the beginning of
    list p + 1. Lists are by merge and side, as `delta`.

    Neighbors 7 and 8, P = 2; the pairs that lose are in parts 1 and 0, those that gain both in part 0. Then
    dealt is 1 0 0 1, and dealt_end 1 2 4 4.
    """
    first, batch = shards.base[k].cells, task.batch[0]
    delta, delta_end = shards.delta[2 * first :], shards.delta_end[k]
    dealt, ends = shards.dealt[2 * first :], shards.dealt_end[k]
    ends[:] = 0
    for write in range(2):
        for at in range(2 * batch.n):
            a, b, new = task.left[at >> 1], task.right[at >> 1], batch.first_id + (at >> 1)
            for j in range(delta_end[at], delta_end[at + 1]):
                x = delta[2 * j]
                loses = part_of(pair_of(b, x) if at & 1 else pair_of(x, a), n_parts)
                gains = n_parts + part_of(pair_of(new, x) if at & 1 else pair_of(x, new), n_parts)
                if write:
                    dealt[ends[loses]] = j
                    dealt[ends[gains]] = j
                    ends[loses] += 1
                    ends[gains] += 1
                else:
                    ends[loses + 1] += 1
                    ends[gains + 1] += 1
        if not write:
            for p in range(2 * n_parts):
                ends[p + 1] += ends[p]


@helper
def _twins(merged, weighted, borders, i):
    """How many occurrences of merge i directly follow another, by weight. O(shards)."""
    n = np.int64(0)
    if borders is not None:
        n += borders.twins[i]
    for k in range(merged.shape[0]):
        if weighted is None:
            n += merged[k, i].twins
        else:
            n += weighted.merged[k, i].twins
    return n


@helper
def _add(sums, seen, n, x, gain):
    """Add to the sum of a neighbour, of `n` so far; returns how many there are. O(1)."""
    if sums[x] == 0:
        seen[n] = x
        n += 1
    sums[x] += gain
    return n


@section
def account(driver, task, shards, weighted, borders, mirror, p):
    """Carry the counts of a merged batch for the pairs of part p, or of all parts if it is -1.

    O(distinct neighbours).

    Merging x a b y into x z y subtracts one from (x, a) and (b, y) and adds one to (x, z) and (z, y). If
    occurrences touch, a b a b -> z z, the pair (b, a) between them was counted as right neighbor only, and
    (z, z) appears instead. In 1 2 1 2 3, with (1, 2) -> 9: left neighbors none, right neighbors 1 and 3 once
    each, one twin. So (2, 1) and (2, 3) lose one each; (9, 1) gets 1 - 1 = 0, (9, 3) and (9, 9) get one each.

    If shards have dealt their neighbors, a part adds up its lists, first of the pairs that lose, then of
    those that gain; otherwise it adds up all. A part also writes the results of every P-th merge. The lists
    of new pairs are in the part's row of the task, those of all parts in the first.

    With a `mirror` the merges of a pair and of its mirror follow one another. A left neighbor x of either
    counts as a right neighbor mirror[x] of the other, so both have the counts of the texts and their mirrors
    together. If the two touch, z and its mirror are neighbors: that pair is its own mirror, counts twice, and
    is created with the second merge. Borders do not occur then.

    A hundred lines: the two sides of a merge, and the pair of its twins, share a dozen rows of arrays.
    """
    state, batch, part, entries = driver.state[0], task.batch[0], driver.part, driver.entries
    slots, free, heap, row = driver.slots, driver.free, driver.heap, max(p, np.int64(0))
    sums, seen, read, lengths = driver.sums[row], driver.seen[row], driver.read[row], driver.lengths
    new_token, new_slot, new_end = task.new_token[row], task.new_slot[row], task.new_end[row]
    delta, delta_end, base, merged = shards.delta, shards.delta_end, shards.base, shards.merged
    n_shards = delta_end.shape[0]
    n_parts = part.shape[0]
    mask = slots.shape[1] - 1
    n_new = np.int64(0)
    new_end[0] = 0
    if borders is not None and batch.dealt:
        dealt, dealt_end = shards.dealt, shards.dealt_end
        for k in range(n_shards):
            read[k] = dealt_end[k, p - 1] if p > 0 else 0
            read[n_shards + k] = dealt_end[k, n_parts + p - 1]
    for i in range(batch.n):
        new = batch.first_id + i
        a = np.int64(task.left[i])
        b = np.int64(task.right[i])
        q = owner_of(borders, pair_of(a, b), n_parts)
        if p < 0 or q == p:
            free[q, part[q].n_free] = task.slot[i]
            part[q].n_free += 1
        twins = _twins(merged, weighted, borders, i)
        other, turns, other_twins = new, 1, np.int64(0)
        if mirror is not None:
            other, turns = np.int64(mirror[new]), 2
            other_twins = _twins(merged, weighted, borders, other - batch.first_id)
        for side in range(2):
            touching = np.int64(0)
            for gains in range(1 + batch.dealt):
                n = 0
                if borders is not None and batch.dealt:
                    for k in range(n_shards):
                        first, of = base[k].cells, gains * n_shards + k
                        j, end, stop = (
                            read[of],
                            dealt_end[k, gains * n_parts + p],
                            delta_end[k, 2 * i + side + 1],
                        )
                        while j < end and dealt[2 * first + j] < stop:
                            at = first + dealt[2 * first + j]
                            gain = np.int64(delta[2 * at + 1])
                            if weighted is not None:
                                gain = weighted.delta[at]
                            n = _add(sums, seen, n, delta[2 * at], gain)
                            j += 1
                        read[of] = j
                else:
                    for turn in range(turns):
                        at = 2 * (other - batch.first_id) + 1 - side if turn else 2 * i + side
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
                                n = _add(sums, seen, n, x, gain)
                if borders is not None:
                    for j in range(borders.end[2 * i + side], borders.end[2 * i + 1 + side]):
                        n = _add(sums, seen, n, borders.token[j], borders.gain[j])
                for j in range(n):
                    if not gains and j + 8 < n:
                        ahead = np.int64(seen[j + 8])
                        pair = pair_of(b, ahead) if side else pair_of(ahead, a)
                        prefetch(entries[owner_of(borders, pair, n_parts)], 2 * home(pair, mask))
                    x = np.int64(seen[j])
                    count = sums[x]
                    sums[x] = 0
                    pair = pair_of(b, x) if side else pair_of(x, a)
                    q = owner_of(borders, pair, n_parts)
                    # it was not a pair across the end of a frame
                    if not gains and (p < 0 or q == p) and not (side and lengths[new] == state.frame):
                        _lower(state, part[q], entries[q], slots[q], free[q], pair, count)
                    if gains < batch.dealt:
                        continue
                    if side and x == a:
                        count -= twins
                    if mirror is not None:
                        if not side and x == b:
                            count -= other_twins
                        if x == (mirror[b] if side else mirror[a]):
                            count -= touching
                    if state.frame > 0 and (lengths[x] % state.frame == 0) != (
                        lengths[new] % state.frame == 0
                    ):
                        continue  # a part of a frame and a whole frame do not form a pair
                    pair = pair_of(new, x) if side else pair_of(x, new)
                    q = owner_of(borders, pair, n_parts)
                    if p < 0 or q == p:
                        allowed = lengths[x] + lengths[new] <= state.longest
                        slot = create(
                            state,
                            part[q],
                            q,
                            n_parts,
                            entries[q],
                            slots[q],
                            free[q],
                            heap[q],
                            pair,
                            count,
                            allowed,
                        )
                        if slot >= 0:
                            new_token[n_new] = x
                            new_slot[n_new] = slot
                            n_new += 1
            if mirror is not None and other < new and touching > 0:
                pair = pair_of(new, other) if side else pair_of(other, new)
                allowed = 2 * lengths[new] <= state.longest
                slot = create(
                    state, part[q], q, n_parts, entries[q], slots[q], free[q], heap[q], pair, 2 * touching,
                    allowed
                )  # fmt: skip
                if slot >= 0:
                    new_token[n_new] = other
                    new_slot[n_new] = slot
                    n_new += 1
            new_end[2 * i + 1 + side] = n_new
        pair = pair_of(new, new)
        q = owner_of(borders, pair, n_parts)
        if p < 0 or q == p:
            allowed = 2 * lengths[new] <= state.longest
            twins += other_twins
            task.twin_slot[i] = create(
                state, part[q], q, n_parts, entries[q], slots[q], free[q], heap[q], pair, twins, allowed
            )
        if p < 0 or i % n_parts == p:
            documents = np.int64(0) if borders is None else -repeated(merged, borders, i)
            replaced = np.int64(0)
            for k in range(n_shards):
                documents += merged[k, i].documents
                if weighted is None:
                    replaced += merged[k, i].occurrences
                else:
                    replaced += weighted.merged[k, i].occurrences
            learned = driver.learned[new]
            learned.left, learned.right, learned.count = a, b, task.counts[i]
            learned.documents, learned.replaced = documents, replaced
            task.filled_left[i] = a
    for q in range(n_parts):
        if p < 0 or q == p:
            part[q].root = NOT_KNOWN
