"""The rounds of a fit over local shards, on one thread or many, back in Python every so often for progress and Ctrl-C.

A round: the driver chooses the merges; every shard writes the slices of the pairs that the round before created, and merges; then
every part of the driver accounts for its pairs. Shards and parts are jobs that any thread may claim, so nothing hangs if a thread
never comes; but each looks for its own number first, which keeps their memory in its cache.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba._jit import helper, kernel, section
from ubpe_numba.kernels import atomics
from ubpe_numba.kernels.borders import collect, crosses, prepare
from ubpe_numba.kernels.choose import choose
from ubpe_numba.kernels.driver import (
    BELOW,
    COUNT,
    HOLDERS,
    LEFT,
    LIMIT,
    NEED,
    NEXT_ID,
    PARALLEL,
    REPLACED,
    RIGHT,
    ROUND_START,
    SMALLEST,
    STAGE,
    TIES,
    VISITED,
    account,
    has_room,
)
from ubpe_numba.kernels.shard import ARENA, ARENA_TOP, DOCUMENTS, OCCURRENCES, shard_of
from ubpe_numba.kernels.shard_merge import fill, merge, weights_of

# why `run` came back
DONE, THIN, FULL, GROW, PAUSE = range(5)
# where it goes on
FILL, CHOOSE, MERGE, ACCOUNT = range(4)
# cells of `control`, a cache line apart: the job (4 times its number, plus its kind: read together or not at all), how many of
# its pieces are done, and from CLAIMS on the last job in which each piece was claimed
LINE = 16
JOB, FINISHED, CLAIMS = 0, LINE, 2 * LINE
_FILL, _MERGE, _ACCOUNT, STOP = range(4)
PARALLEL_ABOVE = 1500  # occurrences of a round; below, hand-offs cost more than they spare
_PATIENCE = 2000  # looks at a cell before another thread may have the processor


@section
def _do(kind, k, driver, task, shards, weighted, borders):
    """One piece of a job."""
    if kind == _ACCOUNT:
        account(driver, task, shards, weighted, borders, k)
    else:
        shard = shard_of(shards, k)
        if task.filled[0] > 0:
            fill(shard, task)
        if kind == _MERGE:
            merge(shard, weights_of(weighted, shards, k), task)


@section
def _pieces(kind, driver, shards):
    """Into how many pieces a job falls."""
    return driver.part.shape[0] if kind == _ACCOUNT else shards.state.shape[0]


@helper
def _claim(control, job, k):
    """Whether piece k of this job is ours, and nobody's else. No job begins before all pieces of the one before are done."""
    claimed = atomics.load(control, CLAIMS + k * LINE)
    return claimed < job and atomics.swap(control, CLAIMS + k * LINE, claimed, job)


@kernel
def work(driver, task, shards, weighted, borders, control, me):
    """A thread that helps `run` until it stops. O(what it helps with)."""
    last = np.int64(0)
    looks = 0
    while True:
        job = atomics.load(control, JOB)
        if job == last:
            looks += 1
            if looks % _PATIENCE == 0:
                atomics.give_way()
            continue
        last = job
        looks = 0
        kind = job & 3
        if kind == STOP:
            return
        n = _pieces(kind, driver, shards)
        for i in range(n):
            k = (me + i) % n
            if _claim(control, job, k):
                _do(kind, k, driver, task, shards, weighted, borders)
                atomics.add(control, FINISHED, 1)


@section
def _share(kind, parallel, driver, task, shards, weighted, borders, control):
    """Do a job, with the threads' help or without."""
    n = _pieces(kind, driver, shards)
    if not parallel or n == 1:
        for k in range(n):
            _do(kind, k, driver, task, shards, weighted, borders)
        return
    job = (control[JOB] & ~np.int64(3)) + 4 + kind
    atomics.store(control, FINISHED, 0)
    atomics.store(control, JOB, job)
    for k in range(n):
        if _claim(control, job, k):
            _do(kind, k, driver, task, shards, weighted, borders)
            atomics.add(control, FINISHED, 1)
    looks = 0
    while atomics.load(control, FINISHED) < n:
        looks += 1
        if looks % _PATIENCE == 0:
            atomics.give_way()


@section
def _record(driver, task, shards, weighted, borders):
    """Write down what was learned in the round. Returns whether every arena has room for the slices of its new pairs. O(R * K)."""
    room = True
    n_shards = shards.state.shape[0]
    for i in range(task.n[0]):
        learned = driver.learned[task.first_id[0] + i]
        learned[LEFT] = task.left[i]
        learned[RIGHT] = task.right[i]
        learned[COUNT] = task.counts[i]
        learned[HOLDERS] = -borders.repeated[i]
        learned[REPLACED] = 0
        for k in range(n_shards):
            learned[HOLDERS] += shards.merged[k, i, DOCUMENTS]
            learned[REPLACED] += shards.merged[k, i, OCCURRENCES] if weighted is None else weighted.merged[k, i, 0]
        task.filled_left[i] = task.left[i]
    for k in range(n_shards):
        most = shards.state[k, ARENA_TOP]
        for i in range(task.n[0]):
            most += 2 * shards.merged[k, i, OCCURRENCES]
        room = room and most <= shards.base[k + 1, ARENA] - shards.base[k, ARENA]
    task.filled[0] = task.n[0]
    task.filled[1] = task.first_id[0]
    driver.state[ROUND_START] = task.first_id[0]
    driver.state[NEXT_ID] += task.n[0]
    return room


@section
def _rounds(driver, task, shards, weighted, borders, control, threads, budget):
    state = driver.state
    stop = state[VISITED] + budget
    n_shards = shards.state.shape[0]
    parallel = False
    while True:
        if state[STAGE] == FILL:
            # ties are decided by a look at the slices
            if task.filled[0] > 0 and state[TIES] != SMALLEST:
                _share(_FILL, parallel, driver, task, shards, weighted, borders, control)
                task.filled[0] = 0
            state[STAGE] = CHOOSE
        if state[STAGE] == CHOOSE:
            if state[NEXT_ID] >= state[LIMIT]:
                return DONE
            if state[VISITED] >= stop:
                return PAUSE
            if state[NEXT_ID] + task.left.size > driver.learned.shape[0]:
                return GROW
            if choose(driver, task, shards, weighted, borders) == 0:
                below = np.int64(0)
                for p in range(driver.part.shape[0]):
                    below += driver.part[p, BELOW]
                return THIN if below > 0 else DONE
            if n_shards > 1:
                if task.filled[0] > 0 and crosses(task, shards, borders):
                    _share(_FILL, False, driver, task, shards, weighted, borders, control)
                    task.filled[0] = 0
                if not prepare(task, shards, borders):
                    return FULL
            state[STAGE] = MERGE
        if state[STAGE] == MERGE:
            visits = np.int64(16 * task.n[0])
            for i in range(task.n[0]):
                for k in range(n_shards):
                    visits += shards.slices[k, 2 * task.slot[i] + 1]
            state[VISITED] += visits
            parallel = threads > 1 and visits > PARALLEL_ABOVE
            state[PARALLEL] += parallel
            _share(_MERGE, parallel, driver, task, shards, weighted, borders, control)
            task.filled[0] = 0
            if n_shards > 1:
                collect(task, shards, borders)
            state[STAGE] = ACCOUNT
        state[NEED] = task.n[0] + borders.end[2 * task.n[0]]
        for k in range(n_shards):
            state[NEED] += shards.delta_end[k, 2 * task.n[0]]
        if not has_room(driver, task, state[NEED], shards.slices.shape[1] // 2):
            return GROW
        _share(_ACCOUNT, parallel, driver, task, shards, weighted, borders, control)
        state[STAGE] = FILL
        if not _record(driver, task, shards, weighted, borders):
            return FULL


@kernel
def run(driver, task, shards, weighted, borders, control, threads, budget):
    """Rounds until there is a reason to stop.

    DONE: the vocabulary is full, or no pair reaches the least count. THIN: the threshold must fall. FULL: an arena is, or a text
    must be compacted. GROW: tables, heaps, slots or tokens need room for NEED more. PAUSE: `budget` occurrences were visited.
    `threads` counts this one; the others run `work`, and stop with this. `weighted` is None or `Weighted`. O(occurrences).
    """
    why = _rounds(driver, task, shards, weighted, borders, control, threads, budget)
    atomics.store(control, JOB, (control[JOB] & ~np.int64(3)) + 4 + STOP)
    return why
