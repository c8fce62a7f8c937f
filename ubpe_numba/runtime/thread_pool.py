"""Threads over documents: how documents are divided into chunks, and workers that run those.

Kernels release the GIL, so Python threads use every core. A worker thread never submits tasks: it runs nested
work itself.

Workers are made so that Ctrl-C can come at any time. Python raises KeyboardInterrupt in the main thread
between any two of its instructions. In the pools of `concurrent.futures`, an interrupt that comes while
Python acquires a future's lock leaves it locked. The thread that works for the future then waits forever, and
so does the interpreter when it ends. Here threads communicate only through `SimpleQueue` and locks, whose
methods are single operations: they happen, or they do not.

    caller   put task 0, put task 1, ...                get, get: all have ended
    worker       get task 0, claim it, work, put it in `done`       skip tasks that the caller has claimed

There is one group of threads per process and size, made when first needed and again after a fork (threads do
not survive a fork). Under gevent or eventlet, which replace Python's threads, groups are not used: greenlets
share one system thread, so a kernel that waits for another would wait forever.
"""

from __future__ import annotations

import _thread
import atexit
import os
import threading
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise, starmap
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np

from ubpe_numba.runtime.arrays import resolve_threads

T = TypeVar("T")

# symbols: below this, threads cost more than they save (submitting a chunk: ~16 µs, ~300 symbols)
SERIAL_BELOW = 200_000
# symbols: kernels from here on run 0.1 s or more, during which the calling thread cannot handle Ctrl-C
LONG = 4_000_000
_CHUNKS_PER_THREAD = 4  # balances chunks of unequal speed
_POLL_SECONDS = 0.1  # between two checks for Ctrl-C
_MOST_GROUPS = 4  # kept, one for each number of threads requested recently

# threads, and the queue of their tasks
_Group: TypeAlias = "tuple[SimpleQueue[Task[Any] | None], list[threading.Thread]]"
_groups: dict[int, _Group] = {}  # by number of threads
_retired: list[threading.Thread] = []  # told to end, as far as they have not
_NONE = SimpleQueue[object]()  # no other tasks
_lock = threading.Lock()
_this_thread = threading.local()
_ended = False  # the interpreter ends: no thread is to be started


def chunks_of(
    offsets: np.ndarray, n_threads: int | None, per_thread: int = _CHUNKS_PER_THREAD
) -> list[tuple[int, int]]:
    """Ranges (begin, end) of whole documents for `run`, of about equally many symbols.

    `offsets` int64[n + 1] are those of the documents. There are `per_thread` ranges per thread (1 for work
    that builds tables for every chunk), or a single one for one thread or fewer than `SERIAL_BELOW` symbols.
    Raises as `resolve_threads`. O(ranges * log n).

    >>> chunks_of(np.array([0, 10, 20]), 2)
    [(0, 2)]
    """
    n = offsets.size - 1
    threads = resolve_threads(n_threads)
    if threads == 1 or n < 2 or offsets[-1] - offsets[0] < SERIAL_BELOW:
        return [(0, n)]
    targets = np.linspace(offsets[0], offsets[-1], threads * per_thread + 1)[1:-1]
    cuts = np.unique(np.concatenate([[0], np.searchsorted(offsets, targets), [n]]))
    return list(pairwise(cuts.tolist()))


def run(
    function: Callable[[int, int], T], chunks: list[tuple[int, int]], n_threads: int | None, size: int = 0
) -> list[T]:
    """The results of `function(begin, end)` for every chunk, in order of chunks.

    The first exception is raised after all chunks have ended; only KeyboardInterrupt is raised at once, while
    running kernels end in the background. To make that possible a single chunk runs in a thread too if it has
    `size` >= LONG symbols. If no thread can be started (interpreter shutdown, limits of the system), the
    chunks run in the calling thread.
    """
    if not chunks or (len(chunks) == 1 and size < LONG) or is_worker():
        return list(starmap(function, chunks))
    done, others = SimpleQueue[object](), SimpleQueue[object]()
    tasks = [Task(partial(function, *chunk), done, others) for chunk in chunks]
    for _ in chunks[1:]:
        others.put(None)
    try:
        if not submit(tasks, min(resolve_threads(n_threads), len(chunks))):
            return list(starmap(function, chunks))
        # once: a caller that wakes for every chunk takes a processor from the workers, a tenth of the time
        wait(done)
    except BaseException:
        for task in tasks:
            task.cancel()
        raise
    return [task.result() for task in tasks]


def together(
    here: Callable[[], T], helper: Callable[[int], object], stop: Callable[[], None], n_threads: int
) -> T:
    """The result of `here()`, run in this thread, while up to n_threads - 1 others help.

    They run `helper(1)`, `helper(2)`, ...

    Helpers may start late or not at all, so `here` must not wait for them. They must end after `stop()`,
    which is called when `here` has raised, and after `here` has returned: a Ctrl-C may come before `stop` is
    called then. Their exceptions are raised once all have ended.
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


class Task(Generic[T]):
    """A call that a worker makes, unless it is cancelled first.

    It is put in `done` when the call has returned or raised.

    Tasks that share `others` have one item less than tasks in it; only the last to end is put in `done`.
    """

    __slots__ = ("_call", "_claim", "_done", "_error", "_others", "_result")

    def __init__(
        self, call: Callable[[], T], done: SimpleQueue[object], others: SimpleQueue[object] = _NONE
    ) -> None:
        self._call, self._done, self._others = call, done, others
        self._claim = threading.Lock()  # never released: the first to take it decides
        self._error: BaseException | None = None

    def cancel(self) -> bool:
        """Claim the task, so that no worker begins it; False if one has."""
        return self._claim.acquire(blocking=False)

    def work(self) -> None:
        """Make the call, if the task is not cancelled."""
        if self._claim.acquire(blocking=False):
            try:
                self._result = self._call()
            except BaseException as error:
                self._error = error
            try:
                self._others.get_nowait()
            except Empty:
                self._done.put(self)

    def result(self) -> T:
        """The result of the call, or its exception raised. For tasks that have ended."""
        if self._error is not None:
            raise self._error
        return self._result


def is_worker() -> bool:
    """Whether the calling thread belongs to a group.

    Its nested work would wait for itself, and is done at once instead.
    """
    return getattr(_this_thread, "works", False)


def are_green() -> bool:
    """Whether gevent or eventlet has replaced Python's threads by greenlets."""
    return _thread.start_new_thread.__module__.partition(".")[0] in ("gevent", "eventlet")


def submit(tasks: Sequence[Task[Any]], size: int) -> bool:
    """Give tasks to the group of `size` threads; False if this is impossible.

    Causes are greenlets, limits of the system, and the end of the interpreter.
    """
    if are_green():
        return False
    with _lock:
        group = _groups.get(size)
        if group is None:
            group = _new(size)
            if group is None:
                return False
            if len(_groups) == _MOST_GROUPS:
                _retire(_groups.pop(next(iter(_groups))))
            _groups[size] = group
        for task in tasks:
            group[0].put(task)  # they begin in this order as threads become free
        return True


def wait(done: SimpleQueue[object]) -> None:
    """Wait for one more task."""
    while True:
        try:
            # without, a signal that arrives just before the wait begins would not end it
            done.get(timeout=_POLL_SECONDS)
            return
        except Empty:
            pass


def apart(call: Callable[[], T]) -> T:
    """The result of `call()`, made in a thread that no Ctrl-C can interrupt.

    For libraries that an interruption would corrupt.

    In the main thread the call is left to another thread. A Ctrl-C is raised at once, while the call ends in
    the background.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    done: SimpleQueue[object] = SimpleQueue()
    task = Task(call, done)
    with _lock:
        group = _new(1)
        if group is None:
            return call()
        group[0].put(task)
        _retire(group)
    wait(done)
    return task.result()


def _new(size: int) -> _Group | None:
    """Start threads that take their tasks from one queue; None if not all can be started."""
    if _ended or are_green():
        return None
    tasks: SimpleQueue[Task[Any] | None] = SimpleQueue()
    threads: list[threading.Thread] = []
    try:
        for i in range(size):
            # daemons: those left alone by a Ctrl-C in this loop do not keep the interpreter; `_end` waits for
            # all others
            thread = threading.Thread(target=_work, args=(tasks,), name=f"ubpe_{i}", daemon=True)
            threads.append(thread)
            thread.start()
    except BaseException as error:
        for _ in threads:
            tasks.put(None)
        if isinstance(error, RuntimeError):
            return None
        raise
    return tasks, threads


def _retire(group: _Group) -> None:
    """Let the threads of a group end when they have done the tasks put before."""
    tasks, threads = group
    for _ in threads:
        tasks.put(None)
    _retired[:] = [thread for thread in _retired if thread.is_alive()] + threads


def _work(tasks: SimpleQueue[Task[Any] | None]) -> None:
    _this_thread.works = True
    while True:
        task = tasks.get()
        if task is None:
            return
        task.work()
        del task  # its result is the caller's alone while this thread waits


def _end() -> None:
    """Before the interpreter ends: let kernels end first.

    They must not run while their code is removed.
    """
    global _ended
    with _lock:
        _ended = True
        for group in _groups.values():
            _retire(group)
        _groups.clear()
    for thread in _retired:
        thread.join()


def _begin_anew() -> None:
    """In a forked child: threads exist only in the parent."""
    global _lock
    _lock = threading.Lock()
    _groups.clear()


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
