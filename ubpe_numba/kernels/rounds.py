"""The rounds of a fit over a local shard, back in Python every so often for progress and Ctrl-C."""

from __future__ import annotations

from ubpe_numba._jit import kernel
from ubpe_numba.kernels.choose import choose
from ubpe_numba.kernels.driver import BELOW, LIMIT, NEED, NEXT_ID, STAGE, VISITED, account, has_room
from ubpe_numba.kernels.shard import ARENA_FULL
from ubpe_numba.kernels.shard_merge import fill, merge

# why `run` came back
DONE, THIN, FULL, GROW, PAUSE = range(5)
# where it goes on
FILL, CHOOSE, ACCOUNT = range(3)


@kernel
def run(driver, task, shard, budget):
    """Rounds until there is a reason to stop: choose, merge, account, fill.

    DONE: the vocabulary is full, or no pair reaches the least count. THIN: the threshold must fall. FULL: the arena is. GROW:
    table, heap, slots or tokens need room for NEED more. PAUSE: `budget` occurrences were visited. O(occurrences).
    """
    state = driver.state
    stop = state[VISITED] + budget
    while True:
        if state[STAGE] == FILL:
            fill(shard, task)
            state[STAGE] = CHOOSE
            if shard.state[ARENA_FULL]:
                return FULL
        if state[STAGE] == CHOOSE:
            if state[NEXT_ID] >= state[LIMIT]:
                return DONE
            if state[VISITED] >= stop:
                return PAUSE
            if state[NEXT_ID] + task.left.size > driver.left.size:
                return GROW
            if choose(driver, shard, task) == 0:
                return THIN if state[BELOW] > 0 else DONE
            for i in range(task.n[0]):
                state[VISITED] += shard.length[task.slot[i]] + 16
            merge(shard, task)
            state[STAGE] = ACCOUNT
        state[NEED] = shard.delta_end[2 * task.n[0]] + task.n[0]
        if not has_room(driver, state[NEED], shard.start.size):
            return GROW
        account(driver, task, shard)
        state[STAGE] = FILL
