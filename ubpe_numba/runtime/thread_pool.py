"""Threads over documents: how many, how documents are divided into chunks, and running those.

Kernels release the GIL, so Python threads use every core. A worker thread never submits tasks: it runs nested work itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import TypeVar

import numpy as np

from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import positive
from ubpe_numba.runtime.worker_threads import Task, is_worker, submit, wait

T = TypeVar("T")

SERIAL_BELOW = 200_000  # symbols: below this, threads cost more than they save (submitting a chunk: ~16 µs, ~300 symbols)
LONG = 4_000_000  # symbols: kernels from here on run 0.1 s or more, during which the calling thread cannot handle Ctrl-C
#: No machine has more processors: Linux is built for at most 8,192. More threads are a mistake, and each costs a stack.
MOST = 8192
_CHUNKS_PER_THREAD = 4  # balances chunks of unequal speed


def resolve(n_threads: int | None) -> int:
    """The number of threads: the argument, else UBPE_NUM_THREADS, NUMBA_NUM_THREADS, else the CPUs this process may use.

    Raises TypeError or ValueError that names the argument or variable if its value is not an integer in 1..MOST.
    """
    if (asked := asked_for(n_threads)) is not None:
        return asked
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def is_valid(n_threads: object) -> bool:
    """Whether an argument `n_threads` is None or an `int` in 1..MOST; other integers that do are left to `resolve`."""
    return n_threads is None or (type(n_threads) is int and 0 < n_threads <= MOST)


def checked(n_threads: int, name: str) -> int:
    """A number of threads that the user gave by an argument of this `name`; raises as `resolve`.

    >>> checked(10**6, "--threads")
    Traceback (most recent call last):
    ValueError: --threads: expected at most 8192, got 1000000
    """
    n = positive(n_threads, name, "an int or None")
    if n > MOST:
        raise ValueError(f"{name}: expected at most {MOST}, got {quoted(n)}")
    return n


def asked_for(n_threads: int | None) -> int | None:
    """The number of threads that the argument or the environment requests, None if neither does; raises as `resolve`."""
    if n_threads is not None:
        return checked(n_threads, "n_threads")
    for name in ("UBPE_NUM_THREADS", "NUMBA_NUM_THREADS"):
        if text := os.environ.get(name):
            digits = text.lstrip("0")[:20] if text.isascii() and text.isdigit() else ""  # Python makes no int of thousands
            n = int(digits or 0)
            if not 1 <= n <= MOST:
                raise ValueError(f"environment variable {name}: expected an integer in 1..{MOST}, got {quoted(text)}")
            return n
    return None


def is_valid_environment() -> bool:
    """Whether the environment requests a number of threads that `resolve` accepts, or none."""
    try:
        asked_for(None)
    except ValueError:
        return False
    return True


def chunks_of(offsets: np.ndarray, n_threads: int | None, per_thread: int = _CHUNKS_PER_THREAD) -> list[tuple[int, int]]:
    """Ranges (begin, end) of whole documents for `run`, of about equally many symbols.

    `offsets` int64[n + 1] are those of the documents. There are `per_thread` ranges per thread (1 for work that builds tables for
    every chunk), or a single one for one thread or fewer than `SERIAL_BELOW` symbols. Raises as `resolve`. O(ranges * log n).

    >>> chunks_of(np.array([0, 10, 20]), 2)
    [(0, 2)]
    """
    n = offsets.size - 1
    threads = resolve(n_threads)
    if threads == 1 or n < 2 or offsets[-1] - offsets[0] < SERIAL_BELOW:
        return [(0, n)]
    targets = np.linspace(offsets[0], offsets[-1], threads * per_thread + 1)[1:-1]
    cuts = np.unique(np.concatenate([[0], np.searchsorted(offsets, targets), [n]]))
    return list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))


def run(function: Callable[[int, int], T], chunks: list[tuple[int, int]], n_threads: int | None, size: int = 0) -> list[T]:
    """The results of `function(begin, end)` for every chunk, in order of chunks.

    The first exception is raised after all chunks have ended; only KeyboardInterrupt is raised at once, while running kernels end
    in the background. To make that possible a single chunk runs in a thread too if it has `size` >= LONG symbols. If no thread
    can be started (interpreter shutdown, limits of the system), the chunks run in the calling thread.
    """
    if (len(chunks) == 1 and size < LONG) or is_worker():
        return [function(*chunk) for chunk in chunks]
    done: SimpleQueue[object] = SimpleQueue()
    tasks = [Task(partial(function, *chunk), done) for chunk in chunks]
    try:
        if not submit(tasks, min(resolve(n_threads), len(chunks))):
            return [function(*chunk) for chunk in chunks]
        for _ in tasks:
            wait(done)
    except BaseException:
        for task in tasks:
            task.cancel()
        raise
    return [task.result() for task in tasks]


def together(here: Callable[[], T], helper: Callable[[int], object], stop: Callable[[], None], n_threads: int) -> T:
    """The result of `here()`, run in this thread, while up to n_threads - 1 others run `helper(1)`, `helper(2)`, ...

    Helpers may start late or not at all, so `here` must not wait for them. They must end after `stop()`, which is called when
    `here` has raised, and after `here` has returned: a Ctrl-C may come before `stop` is called then. Their exceptions are raised
    once all have ended.
    """
    if n_threads == 1 or is_worker():
        return here()
    done: SimpleQueue[object] = SimpleQueue()
    tasks = [Task(partial(helper, i), done) for i in range(1, n_threads)]
    try:
        submit(tasks, n_threads - 1)
        return here()
    finally:
        stop()
        begun = [task for task in tasks if not task.cancel()]
        for _ in begun:
            wait(done)
        for task in begun:
            task.result()
