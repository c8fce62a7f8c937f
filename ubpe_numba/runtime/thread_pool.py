"""Threads over documents: how many, how the work is cut, and the pool that does it.

Kernels release the GIL, so plain threads use every core. One lazy pool per process and size, made anew after a fork (threads do
not survive one) and never fed from one of its own threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

import numpy as np

T = TypeVar("T")

SERIAL_BELOW = 200_000  # symbols; a hand-off costs ~16 µs, as much as encoding ~300
LONG = 4_000_000  # symbols: a kernel runs for a tenth of a second or more, in which its thread does not hear of Ctrl-C
_CHUNKS_PER_THREAD = 4  # so that no thread is left alone with a slow rest
_LISTEN = 0.1  # seconds between two looks at whether Ctrl-C came
_MOST_POOLS = 4  # one for each number of threads that was asked for lately

_pools: dict[tuple[int, int], ThreadPoolExecutor] = {}
_lock = threading.Lock()
_worker = threading.local()


def resolve(n_threads: int | None) -> int:
    """The number of threads: the argument, else UBPE_NUM_THREADS, NUMBA_NUM_THREADS, else the CPUs this process may use.

    Raises TypeError or ValueError naming the source of a value that is not a positive integer.
    """
    if (asked := asked_for(n_threads)) is not None:
        return asked
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def asked_for(n_threads: int | None) -> int | None:
    """The number of threads that the argument or the environment asks for, None if none does; raises as `resolve`."""
    if n_threads is not None:
        if isinstance(n_threads, bool) or not isinstance(n_threads, (int, np.integer)):
            raise TypeError(f"n_threads: expected an int or None, got {n_threads!r}")
        if n_threads < 1:
            raise ValueError(f"n_threads: expected at least 1, got {n_threads}")
        return int(n_threads)
    for name in ("UBPE_NUM_THREADS", "NUMBA_NUM_THREADS"):
        if text := os.environ.get(name):
            if not (text.isascii() and text.isdigit()) or int(text) < 1:
                raise ValueError(f"environment variable {name}: expected a positive integer, got {text!r}")
            return int(text)
    return None


def chunks_of(offsets: np.ndarray, n_threads: int | None, per_thread: int = _CHUNKS_PER_THREAD) -> list[tuple[int, int]]:
    """Ranges of whole documents for `run`, balanced by symbols; a single one where threads would only cost.

    `per_thread` of them for each thread: one where every chunk makes tables of its own.

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
    """`function(begin, end)` of every chunk, in their order; the first exception is raised once all have ended.

    KeyboardInterrupt is raised at once: kernels that still run end by themselves, unseen. For that a single chunk gets a thread,
    too, if there are `size` >= LONG symbols. Where no thread can be had (the interpreter is shutting down, or the system
    refuses), the caller's own does the work.
    """
    if (len(chunks) == 1 and size < LONG) or getattr(_worker, "busy", False):
        return [function(*chunk) for chunk in chunks]
    futures: list[Future[T]] = []
    pool = _pool(min(resolve(n_threads), len(chunks)))
    try:
        try:
            for chunk in chunks:
                futures.append(pool.submit(_marked, function, chunk))
        except RuntimeError:
            _drop(pool)
        here = [function(*chunk) for chunk in chunks[len(futures) :]]
        while wait(futures, _LISTEN).not_done:
            pass  # a signal that comes just before a thread falls asleep does not wake it
        return [future.result() for future in futures] + here
    except BaseException as error:
        for future in futures:
            future.cancel()
        if not isinstance(error, KeyboardInterrupt):
            wait(futures)
        raise


def together(here: Callable[[], T], helper: Callable[[int], object], stop: Callable[[], None], n_threads: int) -> T:
    """`here()` in this thread, while up to n_threads - 1 others run `helper(1)`, `helper(2)` ...

    Helpers may come late or not at all, and have to end when `stop` was called, which happens whatever becomes of `here`.
    """
    if n_threads == 1 or getattr(_worker, "busy", False):
        return here()
    futures: list[Future[object]] = []
    pool = _pool(n_threads - 1)
    try:
        try:
            for i in range(1, n_threads):
                futures.append(pool.submit(_marked, lambda i, _: helper(i), (i, i)))
        except RuntimeError:
            _drop(pool)
        return here()
    finally:
        stop()
        for future in futures:
            future.cancel()
        wait(futures)
        for future in futures:
            if not future.cancelled():
                future.result()


def _marked(function: Callable[[int, int], T], chunk: tuple[int, int]) -> T:
    _worker.busy = True
    try:
        return function(*chunk)
    finally:
        _worker.busy = False


def _pool(size: int) -> ThreadPoolExecutor:
    key = (os.getpid(), size)
    with _lock:
        for other in [k for k in _pools if k[0] != key[0]]:
            del _pools[other]  # of the parent: its threads are not here
        if key not in _pools:
            if len(_pools) == _MOST_POOLS:
                _pools.pop(next(iter(_pools))).shutdown(wait=False)
            _pools[key] = ThreadPoolExecutor(size, thread_name_prefix="ubpe")
        return _pools[key]


def _drop(pool: ThreadPoolExecutor) -> None:
    """Forget a pool that could not start a thread; what it was given already is still done."""
    with _lock:
        for key in [k for k, v in _pools.items() if v is pool]:
            del _pools[key]
    pool.shutdown(wait=False)


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)
