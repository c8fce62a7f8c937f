"""The rounds of a fit over local shards, on one thread or many, back in Python every so often for progress and Ctrl-C.

A round: the driver chooses its merges, and takes them in batches, so that what is noted down has a bound. For each batch every
shard writes the slices of the pairs that the batch before created, and merges; then every part of the driver accounts for its
pairs. Shards and parts are pieces of work that any thread may claim, so nothing hangs if a thread never comes; but each looks
for its own number first, which keeps their memory in its cache.

What a fit does not need is not compiled: `weighted`, `borders` and `ties` are None where documents weigh 1, where there is one
shard, and where ties go to the smaller pair; the compiler makes a kernel of its own for each of these cases that occurs.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.fitting.kernels.account import account, has_room
from ubpe_numba.fitting.kernels.borders import collect, crosses, prepare
from ubpe_numba.fitting.kernels.choose import choose, take
from ubpe_numba.fitting.kernels.merge import fill, merge, weights_of
from ubpe_numba.fitting.kernels.pair_counts import ARENA_FULL, BELOW, LIMIT, NEED, NEXT_ID, PENDING, STAGE, VISITED
from ubpe_numba.fitting.kernels.text_cells import shard_of
from ubpe_numba.runtime.jit import helper, kernel
from ubpe_numba.runtime.machine import atomics

# why `run` came back
DONE, THIN, FULL, GROW, PAUSE = range(5)
# where it goes on: what the next piece of work is, or choosing
FILL, MERGE, ACCOUNT, CHOOSE = range(4)
STOP = 3  # to threads instead of CHOOSE
# cells of `control`, a cache line apart: the job (4 times its number, plus its kind: read together or not at all), how many of
# its pieces are done, and from CLAIMS on the last job in which each piece was claimed
LINE = 16
JOB, FINISHED, CLAIMS = 0, LINE, 2 * LINE
PARALLEL_ABOVE = 1500  # occurrences of a round; below, hand-offs cost more than they spare
_PATIENCE = 2000  # looks at a cell before another thread may have the processor


@helper
def _claim(control, job, k):
    """Whether piece k of this job is ours, and nobody's else. No job begins before all pieces of the one before are done."""
    claimed = atomics.load(control, CLAIMS + k * LINE)
    return claimed < job and atomics.swap(control, CLAIMS + k * LINE, claimed, job)


@helper
def _publish(control, kind):
    """Offer a job to the threads; returns it."""
    job = (control[JOB] & ~np.int64(3)) + 4 + kind
    atomics.store(control, FINISHED, 0)
    atomics.store(control, JOB, job)
    return job


@helper
def _wait_for(control, cell, value, wanted):
    """Look at a cell until it holds the value, or, if that is not wanted, until it holds another; returns what it holds."""
    looks = 0
    while True:
        found = atomics.load(control, cell)
        if (found == value) == wanted:
            return found
        looks += 1
        if looks % _PATIENCE == 0:
            atomics.give_way()


@kernel
def work(driver, task, shards, weighted, borders, control, me):
    """A thread that helps `run` until it stops. O(what it helps with)."""
    job = np.int64(0)
    while True:
        job = _wait_for(control, JOB, job, False)
        kind = job & 3
        if kind == STOP:
            return
        n = driver.part.shape[0] if kind == ACCOUNT else shards.state.shape[0]
        for i in range(n):
            k = (me + i) % n
            if not _claim(control, job, k):
                continue
            if kind == ACCOUNT:
                account(driver, task, shards, weighted, borders, k)
            else:
                shard = shard_of(shards, k)
                if task.filled[0] > 0:
                    fill(shard, task)
                if kind == MERGE:
                    merge(shard, weights_of(weighted, shards, k), task)
            atomics.add(control, FINISHED, 1)


@kernel
def run(driver, task, shards, weighted, borders, ties, control, threads, budget):
    """Rounds until there is a reason to stop.

    DONE: the vocabulary is full, or no pair reaches the least count. THIN: the threshold must fall. FULL: an arena is, or a text
    must be compacted. GROW: tables, heaps, slots or tokens need room for NEED more. PAUSE: `budget` occurrences were visited.
    `threads` counts this one; the others run `work`, and stop when `control` says so. `weighted`: None or `Weighted`; `borders`:
    None or `Borders`; `ties`: None or a rule. O(occurrences).
    """
    state = driver.state
    stop = state[VISITED] + budget
    n_shards, n_parts = shards.state.shape[0], driver.part.shape[0]
    parallel = False
    while True:
        kind = state[STAGE]
        if kind == CHOOSE:
            if state[PENDING] == 0 and state[NEXT_ID] >= state[LIMIT]:
                return DONE
            if state[VISITED] >= stop:
                return PAUSE
            if state[NEXT_ID] + task.left.size > driver.learned.shape[0]:
                return GROW
            if ties is not None and task.filled[0] > 0:
                kind = np.int64(FILL)  # ties are decided by a look at the slices
            else:
                if state[PENDING] == 0 and choose(driver, task, shards, weighted, borders, ties) == 0:
                    below = np.int64(0)
                    for p in range(n_parts):
                        below += driver.part[p, BELOW]
                    return THIN if below > 0 else DONE
                take(driver, task, borders)
                visits = np.int64(16 * task.n[0])
                for i in range(task.n[0]):
                    for k in range(n_shards):
                        visits += shards.slices[k, 2 * task.slot[i] + 1]
                state[VISITED] += visits
                parallel = threads > 1 and visits > PARALLEL_ABOVE
                state[STAGE] = kind = np.int64(MERGE)
        if borders is not None:
            if kind == MERGE and crosses(task, shards, borders):
                if task.filled[0] == 0:
                    if not prepare(task, shards, borders):
                        return FULL
                else:
                    kind = np.int64(FILL)  # a pair that is merged across a border is entered into its slice
        if kind == ACCOUNT:
            state[NEED] = task.n[0]
            if borders is not None:
                state[NEED] += borders.end[2 * task.n[0]]
            for k in range(n_shards):
                state[NEED] += shards.delta_end[k, 2 * task.n[0]]
            if not has_room(driver, task, state[NEED]):
                return GROW

        n = n_parts if kind == ACCOUNT else n_shards
        shared = parallel and n > 1
        job = np.int64(0)
        if borders is not None and shared:
            job = _publish(control, kind)
        for k in range(n):
            if borders is not None and shared and not _claim(control, job, k):
                continue
            if kind == ACCOUNT:
                account(driver, task, shards, weighted, borders, k)
            else:
                shard = shard_of(shards, k)
                if task.filled[0] > 0:
                    fill(shard, task)
                if kind == MERGE:
                    merge(shard, weights_of(weighted, shards, k), task)
            if borders is not None and shared:
                atomics.add(control, FINISHED, 1)
        if borders is not None and shared:
            _wait_for(control, FINISHED, n, True)

        if kind == ACCOUNT:
            task.filled[0] = task.n[0]
            task.filled[1] = task.first_id[0]
            state[NEXT_ID] += task.n[0]
            state[STAGE] = CHOOSE
            if state[ARENA_FULL]:
                return FULL
        else:
            task.filled[0] = 0
            if kind == MERGE:
                if borders is not None:
                    collect(task, shards, borders)
                state[STAGE] = ACCOUNT
