"""The kernel of rounds on several threads."""

from __future__ import annotations

from typing import Any

import numpy as np

from ubpe_numba.fitting.kernels import rounds
from ubpe_numba.runtime import thread_pool

BUDGET = 4_000_000  # occurrences between two looks at the clock and at Ctrl-C: ~100 ms


def run_rounds(shared: tuple[Any, Any, Any, Any, Any], ties: int | None, control: np.ndarray, threads: int) -> int:
    """Rounds in this thread, with the help of `threads` - 1 others, until the kernel returns; why it did (`rounds.DONE` ...).

    `shared` is what `rounds.run` and `rounds.work` both take: driver, task, shards, weighted, borders.
    """
    control[:] = 0

    def here() -> int:
        return int(rounds.run(*shared, ties, control, threads, BUDGET))

    def stop() -> None:
        control[rounds.JOB] |= rounds.STOP

    return thread_pool.together(here, lambda me: rounds.work(*shared, control, me), stop, threads)
