"""The rounds of a fit over its shards, on one thread or many.

Every so often they return to Python for progress and Ctrl-C.

`seed` enters the pairs of a new epoch into the tables of the driver; `run`, helped by `work`, goes through
the rounds.

A round: the driver chooses its merges, and divides them into batches, so that their records have a bound. For
each batch every shard writes the slices of the pairs that the last batch created, and merges; then every part
of the driver accounts for its pairs. Shards and parts are *pieces* of work that any thread may claim, so no
job waits for a particular thread. Each thread tries the piece of its own index first, so that the memory of
that piece stays in its cache.

    CHOOSE ──> MERGE ──> ACCOUNT ──> CHOOSE ...      jobs: MERGE (piece per shard), ACCOUNT (piece per part)
       └─────> FILL ──> CHOOSE or MERGE              slices are written before they are read

`control` is how threads meet: int64 words, a cache line (LINE words) apart.

    word JOB                  4 * number + kind of the job on offer: one word, so both are read together
    word FINISHED             how many of its pieces are done
    word CLAIMS + k * LINE    the last job in which piece k was claimed

    e.g. two shards, job 21 (number 5, kind MERGE):   21 | 1 | 21 | 21      both pieces are claimed, one of
    them is done

Variants that a fit does not need are not compiled. `weighted` is None if documents weigh 1, `borders` if
there is one shard, `ties` if ties go to the smaller pair, and `driver.listed` if a round has one candidate.
Each case that occurs has its own kernel.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.fitting.kernels.borders import collect, crosses, prepare
from ubpe_numba.fitting.kernels.choose import choose, take
from ubpe_numba.fitting.kernels.merge import fill, merge, weights_of
from ubpe_numba.fitting.kernels.pair_table import account, create, deal, has_room, part_of
from ubpe_numba.fitting.kernels.text_cells import shard_of
from ubpe_numba.runtime.compiler import helper, kernel
from ubpe_numba.runtime.machine.intrinsics import (
    atomic_add,
    atomic_load,
    atomic_store,
    atomic_swap,
    give_way,
    pause,
)

# why `run` came back
DONE, THIN, FULL, GROW, PAUSE, BATCH, CROSSING = range(7)
# the place to continue: the next job, choosing, or accounting for merges made by shards elsewhere
FILL, MERGE, ACCOUNT, CHOOSE, MERGED = range(5)
STOP = 3  # to threads instead of CHOOSE
# words of `control`
LINE = 16
JOB, FINISHED, CLAIMS = 0, LINE, 2 * LINE
PARALLEL_ABOVE = 400  # occurrences of a batch (60 ns each); below, hand-offs cost more than they spare
#: Microseconds that the jobs of a kind took; see benchmarks/scaling.py.
# `longest`: the sum of the longest pieces
JOBS = np.dtype([("n", np.int64), ("work", np.int64), ("longest", np.int64)])
_PATIENCE = 1 << 12  # looks at a word, 10 to 70 ns each, before a thread sleeps
#: The clock of benchmarks/scaling.py, which alone has a trace.
processor_time = None


@helper
def _claim(control, job, k):
    """Whether piece k of this job is this thread's now.

    A job begins when all pieces of the previous job are done. O(1).
    """
    claimed = atomic_load(control, CLAIMS + k * LINE)
    return claimed < job and atomic_swap(control, CLAIMS + k * LINE, claimed, job)


@helper
def _wait_for(control, word, value, wanted):
    """Poll a word until it holds the value or, if that is not wanted, another; returns its value.

    A thread that waits for a job sleeps after a while; the thread that waits for the end of a job, after
    eight times as long.
    """
    looks = 0
    while True:
        present = atomic_load(control, word)
        if (present == value) == wanted:
            return present
        looks += 1
        if looks < _PATIENCE << 3 * wanted:
            pause()
        else:
            give_way()


@helper
def _work_on(kind, k, driver, task, shards, weighted, borders):
    """Piece k of a job. O(its occurrences or neighbours)."""
    batch = task.batch[0]
    if kind == ACCOUNT:
        account(driver, task, shards, weighted, borders, driver.mirror, k if batch.shared else np.int64(-1))
    else:
        rewrite_shard(kind, k, task, shards, weighted, driver.mirror)
        if borders is not None and kind == MERGE and batch.dealt:
            deal(shards, task, driver.part.shape[0], k)


@helper
def rewrite_shard(kind, k, task, shards, weighted, mirror):
    """Piece of shard k of a batch: write slices, and if `kind` is MERGE, merge. O(its occurrences)."""
    shard = shard_of(shards, k)
    if task.batch[0].filled > 0:
        fill(shard, task)
    if kind == MERGE:
        merge(shard, weights_of(weighted, shards, k), task, mirror)


@kernel
def seed(state, part, entries, slots, free, heap, lengths, pairs, counts, new_slots, p):
    """Create the pairs of a new epoch that part p owns. O(pairs log pairs).

    The first seven arrays are those of `Driver`, with empty tables. `pairs` and `counts` are int64[n].
    `new_slots` int32[n] gets the slots, -1 for pairs that are too rare or too long. Returns 0 or, if they do
    not fit, how many pairs the part has, and nothing is changed. Pairs [(0, 1), (1, 2)] with counts [9, 4] at
    a threshold of 5, one part: new_slots [0, -1].
    """
    n_parts = part.shape[0]
    n = np.int64(0)
    for i in range(pairs.size):
        n += counts[i] >= state[0].threshold and (n_parts == 1 or part_of(pairs[i], n_parts) == p)
    if 2 * n > slots.shape[1] or n > heap.shape[1] or n > free.shape[1]:
        return n
    for i in range(pairs.size):
        if n_parts == 1 or part_of(pairs[i], n_parts) == p:
            allowed = lengths[pairs[i] >> 32] + lengths[pairs[i] & 0xFFFFFFFF] <= state[0].longest
            new_slots[i] = create(
                state[0], part[p], p, n_parts, entries[p], slots[p], free[p], heap[p], pairs[i], counts[i],
                allowed
            )  # fmt: skip
    return np.int64(0)


@kernel
def work(driver, task, shards, weighted, borders, control, me):
    """A thread that helps `run` until it stops. O(its work).

    The arrays are those of `run`; `me` int64, from 1 on. With two shards, thread 1 tries piece 1 of each job,
    then piece 0.
    """
    job = np.int64(0)
    while True:
        job = _wait_for(control, JOB, job, False)
        kind = job & 3
        if kind == STOP:
            return
        n = driver.part.shape[0] if kind == ACCOUNT else shards.state.shape[0]
        for i in range(n):
            k = (me + i) % n
            if _claim(control, job, k):
                _work_on(kind, k, driver, task, shards, weighted, borders)
                atomic_add(control, FINISHED, 1)


@helper
def _until(driver, task, shards, weighted, borders, ties, control, threads, budget, trace):
    """Body of `run`. Ninety lines, as the stages share all of the state. O(occurrences)."""
    state, batch = driver.state[0], task.batch[0]
    stop = state.visited + budget
    n_shards, n_parts = shards.state.shape[0], driver.part.shape[0]
    while True:
        kind = state.stage
        if kind == MERGED:
            if borders is not None:
                collect(task, shards, borders)
            state.stage = kind = np.int64(ACCOUNT)
            batch.shared, batch.dealt = threads > 1, 0
        if kind == CHOOSE:
            if state.pending == 0 and state.next_id >= state.limit:
                return DONE
            if state.visited >= stop:
                return PAUSE
            if state.next_id + task.left.size > driver.learned.shape[0]:
                return GROW
            if ties is not None and batch.filled > 0:
                kind = np.int64(FILL)  # ties are decided by a look at the slices
            else:
                if state.pending == 0:
                    choose(driver, task, shards, weighted, borders, ties, driver.mirror, driver.listed)
                if state.pending == 0:
                    if state.next_id >= state.limit:
                        return DONE
                    below = np.int64(0)
                    for p in range(n_parts):
                        below += driver.part[p].below
                    return THIN if below > 0 else DONE
                take(driver, task, borders, driver.mirror)
                if state.elsewhere:
                    state.stage = MERGE
                    if borders is not None and crosses(task, shards, borders):
                        return CROSSING
                    return BATCH
                visits = np.int64(16 * batch.n)
                # as many in each shard as in the first: the others are in other caches
                for i in range(batch.n):
                    visits += n_shards * shards.slices[0, 2 * task.slot[i] + 1]
                batch.shared = threads > 1 and visits > state.shared_above
                batch.dealt = batch.shared and n_parts > 1
                state.stage = kind = np.int64(MERGE)
        if borders is not None:
            if kind == MERGE and crosses(task, shards, borders):
                if batch.filled == 0:
                    if not prepare(task, shards, borders):
                        return FULL
                else:
                    kind = np.int64(FILL)  # a pair that is merged across a border is entered into its slice
        if kind == ACCOUNT:
            if not has_room(driver, task, shards, borders):
                return GROW

        n = n_shards
        if kind == ACCOUNT:
            n = n_parts if batch.shared else np.int64(1)
        shared = borders is not None and batch.shared and n > 1
        job = np.int64(0)
        if shared:
            job = (control[JOB] & ~np.int64(3)) + 4 + kind  # 16 (number 4) becomes 20 + kind
            atomic_store(control, FINISHED, 0)
            atomic_store(control, JOB, job)
        longest = np.int64(0)
        for k in range(n):
            if not shared or _claim(control, job, k):
                before = np.int64(0) if trace is None else processor_time()
                _work_on(kind, k, driver, task, shards, weighted, borders)
                if trace is not None and shared:
                    took = processor_time() - before
                    trace[kind].work += took
                    longest = max(longest, took)
                if shared:
                    atomic_add(control, FINISHED, 1)
        if trace is not None and shared:
            trace[kind].n += 1
            trace[kind].longest += longest
        if shared:
            _wait_for(control, FINISHED, n, True)

        if kind == ACCOUNT:
            batch.filled = batch.n
            batch.filled_first = batch.first_id
            batch.more_lists = n - 1
            state.next_id += batch.n
            state.stage = CHOOSE
            n_slots, full = np.int64(0), False
            for p in range(n_parts):
                n_slots = max(n_slots, driver.part[p].n_slots)
            for k in range(n_shards):
                full |= shards.state[k].full != 0
            if full:
                return FULL
            if not state.elsewhere and 2 * n_parts * n_slots > shards.slices.shape[1]:
                state.need = 0
                return GROW
        else:
            batch.filled = 0
            if kind == MERGE:
                state.visited += 16 * batch.n
                for k in range(n_shards):
                    state.visited += shards.state[k].visits
                if borders is not None:
                    collect(task, shards, borders)
                state.stage = ACCOUNT


@kernel
def run(driver, task, shards, weighted, borders, ties, control, threads, budget, trace):
    """Rounds until there is a reason to stop; returns it. O(occurrences).

    DONE: the vocabulary is full, or no pair reaches the least count. THIN: the threshold must fall. FULL: an
    arena is full, or a text must be compacted. GROW: tables, heaps, slots or tokens need room for
    `state.need` more. PAUSE: `budget` occurrences were visited. BATCH: shards elsewhere have to merge the
    batch, and the fit continues in stage MERGED. CROSSING: the same, but first a token has to be handed over.
    For every reason except DONE, the caller acts and calls again with the same arrays or longer ones. For
    shards elsewhere, `shards` holds their answers and no text (distributed/remote_text.py).

    `driver`, `task` and `shards` are a `Driver`, a `Task` and `Shards`, allocated by the caller. `weighted`
    is None or `Weighted`, `borders` None or `Borders`, `ties` None or a rule. `control` is int64[CLAIMS +
    LINE * shards]. `threads` includes the calling thread. The others run `work` and are stopped here: after a
    Ctrl-C nothing else might stop them. `trace` is None, or JOBS[3] that gets the times of jobs on threads.

    Text 1 2 3 1 2, with (1, 2) twice in the table and a threshold of 2. CHOOSE picks (1, 2), MERGE makes 4 3
    4 of the text. ACCOUNT finds (2, 3) and (3, 1) once less, and (4, 3) and (3, 4) too rare. CHOOSE finds no
    pair: DONE.
    """
    reason = _until(driver, task, shards, weighted, borders, ties, control, threads, budget, trace)
    atomic_store(control, JOB, control[JOB] | STOP)
    return reason
