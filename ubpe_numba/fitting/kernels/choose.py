"""Choosing the merges of a round: the best pairs that do not conflict, taken in batches.

A candidate (l2, r2) is ruled out by a kept pair (l1, r1) if one of the border pairs (r2, l1) and (r1, l2) is
as frequent. So it is enough to know, for each token, the count of the most frequent border pair that it would
make on either side. Each kept pair updates these counts for the neighbors of its tokens once. For this, the
pairs in the table are listed by their parts:

    table      (5, 1) 8   (1, 2) 9   (2, 4) 6   (5, 3) 4     pairs that occur 5 times are listed
    listed     of left token 2: (2, 4)      of right token 1: (5, 1)     and so on
    keep       (1, 2)     5 at the end of a candidate makes (5, 1): right[5] = 8
                      4 at the beginning makes (2, 4): left[4] = 6
    (3, 5) 7   is ruled out, as right[5] is not less than 7
    (4, 6) 7   is not, as left[4] is less

Kept pairs share no token, so each listed pair is read twice at most. Up to `FEW` candidates are compared with
every kept pair instead.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.fitting.kernels.borders import first_border, holds_border
from ubpe_numba.fitting.kernels.merge import count_documents, first_occurrence, weights_of
from ubpe_numba.fitting.kernels.pair_table import (
    FEWEST_DOCUMENTS,
    FIRST_SEEN,
    NO_PAIR,
    NOT_KNOWN,
    heap_pop,
    heap_push,
    heap_sink,
    owner_of,
)
from ubpe_numba.fitting.kernels.text_cells import shard_of
from ubpe_numba.runtime.compiler import helper, section
from ubpe_numba.runtime.tables.pairs import EMPTY, find, pair_of, remove


@section
def list_pairs(entries, conflicts, listed, n_tokens, least):
    """List the pairs that occur at least so often by their parts; no token is in conflict yet.

    O(capacity of tables + V).

    entries int64[P, 2 * capacity]: tables of pairs; conflicts CONFLICT[V], of which `n_tokens` are used;
    listed LISTED[P * capacity]. The caller allocates all. Above, with least 5: (5, 1), (1, 2) and (2, 4) are
    listed.
    """
    for t in range(n_tokens):
        conflicts[t].left, conflicts[t].right = 0, 0
        conflicts[t].first_left, conflicts[t].first_right = -1, -1
    capacity = entries.shape[1] >> 1
    for p in range(entries.shape[0]):
        for i in range(capacity):
            pair = entries[p, 2 * i]
            if pair != EMPTY and entries[p, 2 * i + 1] >= least:
                at = p * capacity + i
                left, right = conflicts[pair >> 32], conflicts[pair & 0xFFFFFFFF]
                listed[at].left, listed[at].right = left.first_left, right.first_right
                left.first_left = right.first_right = at


@section
def keep(entries, conflicts, listed, left, right):
    """Update the conflicts of the neighbors of a kept pair.

    Returns the cost: how many listed pairs were read.

    Arrays as in `list_pairs`. Above, keep (1, 2) sets `right` of 5 to 8 and `left` of 4 to 6, and returns 2.
    """
    capacity = entries.shape[1] >> 1
    looks = np.int64(0)
    at = conflicts[left].first_right
    while at >= 0:
        p, i = at // capacity, at % capacity
        other = conflicts[entries[p, 2 * i] >> 32]
        other.right = max(other.right, entries[p, 2 * i + 1])
        at = listed[at].right
        looks += 1
    at = conflicts[right].first_left
    while at >= 0:
        p, i = at // capacity, at % capacity
        other = conflicts[entries[p, 2 * i] & 0xFFFFFFFF]
        other.left = max(other.left, entries[p, 2 * i + 1])
        at = listed[at].left
        looks += 1
    return looks


@helper
def rules_out(conflicts, left, right, count):
    """Whether a pair that is kept rules out the candidate (left, right) of this count. O(1)."""
    return conflicts[left].left >= count or conflicts[right].right >= count


@helper
def _pair(order, ties):
    """The pair of a heap entry, for rules by which the smaller pair comes first. O(1)."""
    if ties is None:
        return order
    return ~order if ties == FEWEST_DOCUMENTS else order


@helper
def _push_back(ties, borders, part, heap, entry):
    """Return a candidate to the heap of its part. O(log heap)."""
    p = owner_of(borders, _pair(entry.pair, ties), part.shape[0])
    part[p].heap_size = heap_push(heap[p], part[p].heap_size, entry.count, entry.tie, entry.pair)
    part[p].root = NOT_KNOWN


@helper
def _settle_count(ties, part, entries, heap):
    """Correct the root of the heap until its count is exact; its index in the table, or NO_PAIR.

    Amortised O(log heap).

    Root (9, (1, 2)), of which the table knows 6 now, above (7, (0, 5)): (1, 2) sinks with 6, and (0, 5) is
    looked at next.
    """
    while part.heap_size > 0:
        order = heap[0].pair
        i = find(entries, _pair(order, ties))
        if i < 0:
            part.heap_size = heap_pop(heap, part.heap_size)
            continue
        count = entries[2 * i + 1]
        if count == heap[0].count:
            return i
        # a first occurrence only moves back: an exact value is a lower bound now; documents are unknown again
        tie = np.int64(0)
        if ties is not None and ties == FIRST_SEEN:
            tie = heap[0].tie & ~np.int64(1)
        heap_sink(heap, part.heap_size, 0, count, tie, order)
    return np.int64(NO_PAIR)


@section
def _tie_key(ties, task, shards, weighted, borders, slot, left, right):
    """The tie key of a pair that is at the root with its true count.

    Amortised O(shards), or O(length of its slices).
    """
    n = np.int64(0)
    held = False  # by the document that continues in the next shard
    for k in range(shards.state.shape[0]):
        shard = shard_of(shards, k)
        if ties == FIRST_SEEN:
            cell = first_occurrence(shard.cells, task.width, shard.arena, shard.slices, slot, left, right)
            if borders is not None and cell < 0:
                cell = first_border(shards, borders, k, left, right)
            if cell >= 0:
                return 2 * (shards.base[k].cells + cell) + 1
        else:
            here, in_first, in_last = count_documents(
                shard, weights_of(weighted, shards, k), task, slot, left, right
            )
            n += here
            if borders is not None:
                if held and in_first and borders.continued[k]:
                    n -= borders.weight[k]
                held = in_last or (held and borders.continued[k] and borders.whole[k])
                if not held and holds_border(shards, borders, k, left, right):
                    held = True
                    n += borders.weight[k + 1]
    return n


@helper
def _best(ties, part, entries, slots, heap, task, shards, weighted, borders):
    """The part whose root is the best pair of all; -1 if no pair is left.

    Its tie key is exact if it matters.

    Tie keys, smaller is better, are computed only for pairs that reach the root with their true count.
    FIRST_SEEN holds 2 * cell + 1 if exact and 2 * (a lower bound) otherwise, since a first occurrence only
    moves back. FEWEST_DOCUMENTS holds the number of documents, or 0 while unknown, and stays unknown without
    a tie. Under these rules there is one part only.
    """
    best = np.int64(-1)
    for p in range(part.shape[0]):
        if part[p].root == NOT_KNOWN:
            row, top = part[p], heap[p]
            while row.root == NOT_KNOWN:
                i = _settle_count(ties, row, entries[p], top)
                if ties is not None and i >= 0:
                    n = row.heap_size
                    tied = (n > 1 and top[1].count == top[0].count) or (
                        n > 2 and top[2].count == top[0].count
                    )
                    if (ties == FIRST_SEEN and top[0].tie & 1 == 0) or (
                        ties == FEWEST_DOCUMENTS and top[0].tie == 0 and tied
                    ):
                        pair = entries[p, 2 * i]
                        left, right = np.int32(pair >> 32), np.int32(pair & 0xFFFFFFFF)
                        tie = _tie_key(ties, task, shards, weighted, borders, slots[p, i], left, right)
                        heap_sink(top, n, 0, top[0].count, tie, top[0].pair)
                        continue
                row.root = i
        if part[p].root >= 0:
            count, pair = heap[p, 0].count, heap[p, 0].pair
            if (
                best < 0
                or count > heap[best, 0].count
                or (count == heap[best, 0].count and pair < heap[best, 0].pair)
            ):
                best = np.int64(p)
    return best


@helper
def _count_of(borders, entries, pair):
    """Count of a pair, or 0 if it lies below the threshold (and so below every candidate). O(1)."""
    p = owner_of(borders, pair, entries.shape[0])
    i = find(entries[p], pair)
    return entries[p, 2 * i + 1] if i >= 0 else np.int64(0)


@section
def choose(driver, task, shards, weighted, borders, ties, mirror, listed):
    """Choose the merges of a round, at most `state.pending`: 0 if the tables are too thin or empty.

    O(candidates log heap), plus the smaller of O(candidates * kept) and O(capacity of tables + V), within a
    factor.

    With many candidates (UBPE tokenizers, part 1), these are the best pairs by count. The first is kept. A
    later pair, (l2, r2), is kept on two conditions. It shares no token with a kept pair. For each kept pair,
    (l1, r1), the border pairs (r2, l1) and (r1, l2) are strictly rarer than it is. Let (1, 2) occur 9 times,
    (2, 3) 8 times and (4, 5) 7 times. Then (1, 2) and (4, 5) are kept, if (5, 1) and (2, 4) occur less than 7
    times.

    With one candidate, and `listed` None, a round makes as many merges as give the same result at once as one
    after the other. Let q1, q2 ... be the pairs from the best to the worst, and q1 ... qk chosen. The next, q
    = (l, r), is chosen too under four conditions:

    - (1) l is not the right part of a chosen pair, and r is not the left part.
    - (2) 2 * count(q) is at least (unless ties go to the smaller pair: more than) the count of every chosen
      pair (a, a).
    - (3) Under other rules of ties than the smaller pair: q is the only pair of its count.
    - (4) No chosen pair makes a token that is a frame, which could then form pairs across the end of a frame.

    Then one merge after the other would also choose q, with the same count, documents and occurrences:

    * By (1) no occurrence of q overlaps one of a chosen pair, so the count of q does not change. The conflict
    of (1) is symmetric, so the merges of the batch may be made in any order.
    * A pair of old tokens never gains. Consider a pair (u, v) with a new token in it. Every boundary between
    tokens of the new text is a boundary of the old text. There it was between the old tokens x, the last part
    of u (or u itself), and y, the first of v. So count(u, v) <= old count of o = (x, y). If u is new, x is
    the right part of a chosen pair; if v is new, y is the left part of a chosen pair. So o conflicts with
    that pair, and o is not q. Unless it is chosen itself (below), o ranks after q, as all pairs before q are
    chosen: count(u, v) <= count(o) <= count(q). With (3) the last is "less than". With ties to the smaller
    pair, o > q as a pair if they are equally frequent. If u is new, u > l. If u is old, u = x >= l, and if x
    = l, v is new and greater than r. So (u, v) > q: q still wins.
    * o is a chosen pair itself only if that is (a, a). Then u is its token z, and v is z or a. Merged from
    left to right, (z, z) and (z, a) are left at most count(a, a) / 2 times each, since both represent at
    least two of its occurrences. With (2) q is more frequent, or as frequent and smaller, because l < z.
    * Pairs above the greatest length are not candidates: if o is too long, then so is (u, v).
    * Pairs below the threshold are rarer than q before and after.

    With a `mirror`, int32[V], a pair is merged together with its mirror, directly after it, the smaller of
    the two first; both have the same count. A pair and its mirror that may overlap, as (a, b) and (b, c) in a
    b c with b its own mirror, are a batch of their own. The argument above holds for the texts and their
    mirrors together. The fit ends if there is room for one merge only and two are next.

    A hundred lines, forty of them this proof; helpers that take whole NamedTuples cost a third of a second of
    compiling each.
    """
    state, used, candidates = driver.state[0], driver.used, driver.candidates
    part, entries, slots, heap, conflicts = (
        driver.part,
        driver.entries,
        driver.slots,
        driver.heap,
        driver.conflicts,
    )
    room = state.limit - state.next_id
    if listed is None:
        wanted = min(room, np.int64(candidates.shape[0]))
    else:
        wanted = state.candidates
        if state.whole_rounds:
            room = np.int64(task.left.size)
    state.round += 1
    stamp = state.round
    twin_count = np.int64(0)
    n = np.int64(0)
    taken = np.int64(0)
    while n < wanted or (listed is None and ties is not None):
        p = _best(ties, part, entries, slots, heap, task, shards, weighted, borders)
        if p < 0:
            break
        count, tie, order = heap[p, 0].count, heap[p, 0].tie, heap[p, 0].pair
        if mirror is not None:
            left, right = order >> 32, order & 0xFFFFFFFF
            other = pair_of(mirror[right], mirror[left])
            if other < order:  # it is chosen together with its mirror
                part[p].heap_size = heap_pop(heap[p], part[p].heap_size)
                part[p].root = NOT_KNOWN
                continue
            if listed is None:
                taken += 1 + (other != order)
                if taken > room and n == 0:
                    state.limit = state.next_id
                overlaps = other != order and (mirror[left] == left or mirror[right] == right)
                if taken > min(room, np.int64(task.left.size)) or (overlaps and n > 0):
                    break
                if overlaps:
                    wanted = np.int64(1)
        if listed is None:
            if ties is not None and n > 1 and candidates[n - 1].count == count:  # (3)
                n -= 1
                _push_back(ties, borders, part, heap, candidates[n])
                break
            if n == wanted:
                break
            pair = _pair(order, ties)
            left = pair >> 32
            right = pair & 0xFFFFFFFF
            if used[1, left] == stamp or used[0, right] == stamp:  # (1)
                break
            if 2 * count < twin_count or (ties is not None and 2 * count == twin_count):  # (2)
                break
            used[0, left] = stamp
            used[1, right] = stamp
            if driver.lengths[left] + driver.lengths[right] == state.frame:  # (4)
                wanted = n + 1
            if mirror is not None:
                used[0, mirror[right]] = stamp
                used[1, mirror[left]] = stamp
            if left == right:
                twin_count = max(twin_count, count)
        candidates[n].count, candidates[n].tie, candidates[n].pair = count, tie, order
        n += 1
        part[p].heap_size = heap_pop(heap[p], part[p].heap_size)
        part[p].root = NOT_KNOWN
    thin = False
    if listed is not None and n < wanted:  # rarer pairs belong among the candidates
        for p in range(part.shape[0]):
            thin |= part[p].below > 0
    n_kept = np.int64(0)
    looks = np.int64(0)
    is_listed = False
    for i in range(n):
        count = candidates[i].count
        pair = _pair(candidates[i].pair, ties)
        left = pair >> 32
        right = pair & 0xFFFFFFFF
        if listed is not None:
            good = (
                not thin
                and (n_kept < room or mirror is not None)
                and used[0, left] != stamp
                and used[0, right] != stamp
            )
            # a look at a kept pair takes as long as four entries of the tables
            if not is_listed and 0 < listed.size < 4 * looks - conflicts.size:
                list_pairs(entries, conflicts, listed, state.next_id, candidates[n - 1].count)
                for j in range(n_kept):
                    looks += keep(entries, conflicts, listed, np.int64(task.left[j]), np.int64(task.right[j]))
                is_listed = True
            before = looks
            if is_listed:
                good = good and not rules_out(conflicts, left, right, count)
            else:
                j = np.int64(0)
                while good and j < n_kept:
                    good = (
                        _count_of(borders, entries, pair_of(right, task.left[j])) < count
                        and _count_of(borders, entries, pair_of(task.right[j], left)) < count
                    )
                    j += 1
                looks += j
            if (
                mirror is not None
                and good
                and n_kept + 1 + (pair_of(mirror[right], mirror[left]) != pair) > room
            ):
                good = False
                room = n_kept
                state.limit = state.next_id + n_kept
            if good:
                used[0, left] = stamp
                used[0, right] = stamp
                if is_listed:
                    looks += keep(entries, conflicts, listed, left, right)
            # so that Ctrl-C does not wait for many rounds of many candidates
            state.visited += 1 + looks - before
            if not good:
                _push_back(ties, borders, part, heap, candidates[i])
                continue
        task.left[n_kept] = left
        task.right[n_kept] = right
        task.counts[n_kept] = count
        n_kept += 1
        if mirror is not None and pair_of(mirror[right], mirror[left]) != pair:
            left, right = np.int64(mirror[right]), np.int64(mirror[left])
            task.left[n_kept] = left
            task.right[n_kept] = right
            task.counts[n_kept] = count
            n_kept += 1
            if listed is not None:
                used[0, left] = stamp
                used[0, right] = stamp
                if is_listed:
                    looks += keep(entries, conflicts, listed, left, right)
    task.batch[0].n = 0
    state.pending = n_kept
    if n_kept > 0:
        state.round_start = state.next_id


@section
def take(driver, task, borders, mirror):
    """Begin the next batch of the round's merges. O(pending).

    It has as many as `state.batch` occurrences allow, and one at least.

    A pair and its mirror are in one batch; the mirror of each new token is written down here.

    So the records of a batch have a bound. Batches give the same result as the round at once, with the same
    counts. The pairs of a round do not overlap, so none loses an occurrence to another; the pairs that a
    batch creates are not chosen before the round is over. Pending merges of 50, 40 and 30 occurrences, with a
    batch closed at 80: the first two are a batch, then the third.
    """
    state, batch = driver.state[0], task.batch[0]
    entries, slots, width, lengths = driver.entries, driver.slots, task.width, driver.lengths
    done, pending = batch.n, state.pending
    for i in range(pending):
        task.left[i], task.right[i], task.counts[i] = (
            task.left[done + i],
            task.right[done + i],
            task.counts[done + i],
        )
    n = np.int64(0)
    occurrences = np.int64(0)
    odd = False  # the mirror comes next
    while n < pending and (occurrences <= state.batch or odd):
        left, right = np.int64(task.left[n]), np.int64(task.right[n])
        pair = pair_of(left, right)
        p = owner_of(borders, pair, entries.shape[0])
        at = find(entries[p], pair)
        new = state.next_id + n
        task.slot[n] = slots[p, at]
        lengths[new] = lengths[left] + lengths[right]
        width[new] = width[left] + width[right] + (lengths[new] == state.frame)
        if mirror is not None:
            other = pair_of(mirror[right], mirror[left])
            odd = pair < other
            mirror[new] = new + odd - (pair > other)
        remove(entries[p], slots[p], at)
        driver.part[p].n_pairs -= 1
        occurrences += task.counts[n]
        n += 1
    batch.n = n
    batch.first_id = state.next_id
    state.pending = pending - n
